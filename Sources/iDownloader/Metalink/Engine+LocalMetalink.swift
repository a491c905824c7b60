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
            let document: [UInt8]
            do throws(FileError) {
                document = try fileSystem.document(at: path)
            } catch .vanished {
                throw MetalinkFault("does not exist")
            } catch {
                throw MetalinkFault("cannot be read. \(error.failure.message)")
            }
            return try Metalink(document, schemes: Attempt.schemes)
        }
    }
}

extension FileSystem {
    /// Returns the bytes of a regular file, at most one more than a metalink may have.
    ///
    /// Opening neither a pipe without a writer nor a device makes this wait.
    fileprivate func document(at path: String) throws(FileError) -> [UInt8] {
        guard let resolved = try resolve(path) else { throw .vanished }
        let file = try open(resolved, in: AT_FDCWD, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
        let status = try status(of: file.number)
        guard status.isRegular else { throw .system(status.isFolder ? EISDIR : EINVAL, "open") }
        let most = min(status.size, Metalink.longestDocument + 1)
        var bytes = [UInt8](repeating: 0, count: Int(most))
        let count = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(FileError) in try read(into: buffer, from: file.number, at: 0) }
        }
        return Array(bytes.prefix(try count.get()))
    }
}
