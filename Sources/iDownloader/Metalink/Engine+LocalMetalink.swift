// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

extension Engine {
    /// Reads a metalink file on this computer.
    ///
    /// - Parameter path: an absolute path; links are followed.
    /// - Returns: the files that the metalink lists.
    /// - Throws: if the file cannot be read without waiting, or is no metalink.
    package func readMetalink(at path: String) async throws(MetalinkFault) -> Metalink {
        let fileSystem = fileSystem
        return try await disk.run(key: nil, in: path) { () throws(MetalinkFault) in
            let found: [UInt8]?
            do throws(FileError) {
                found = try fileSystem.document(at: path)
            } catch .vanished {
                throw MetalinkFault("does not exist")
            } catch {
                throw MetalinkFault("cannot be read. \(error.failure.message)")
            }
            guard let document = found else { throw MetalinkFault("is not a regular file") }
            return try Metalink(document, schemes: Attempt.schemes)
        }
    }
}

extension FileSystem {
    /// Returns the bytes of a regular file, at most one more than a metalink may have; nil for
    /// anything else.
    ///
    /// Opening neither a pipe without a writer nor a device makes this wait, if one takes the place
    /// of the file meanwhile.
    fileprivate func document(at path: String) throws(FileError) -> [UInt8]? {
        guard let resolved = try resolve(path), let status = try status(of: resolved, in: AT_FDCWD)
        else { throw .vanished }
        guard status.isRegular else { return nil }
        let file = try open(resolved, in: AT_FDCWD, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
        // On NFS, opening it asks the server for its size.
        let size = try self.status(of: file.number).size
        let most = min(size, Metalink.longestDocument + 1)
        var bytes = [UInt8](repeating: 0, count: Int(most))
        let count = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(FileError) in try read(into: buffer, from: file.number, at: 0) }
        }
        return Array(bytes.prefix(try count.get()))
    }
}
