// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

extension Engine {
    /// Reads a metalink that lies on this machine.
    ///
    /// - Parameter path: absolute; links are followed, as for every program of the user's.
    /// - Returns: what it lists.
    /// - Throws: where the file cannot be read at once or is no metalink.
    package func readMetalink(at path: String) async throws(MetalinkFault) -> Metalink {
        let fileSystem = fileSystem
        return try await disk.run(key: nil, in: path) { () throws(MetalinkFault) in
            let document: [UInt8]
            do throws(FileError) {
                document = try fileSystem.document(at: path)
            } catch {
                throw MetalinkFault("cannot be read. \(error.failure.message)")
            }
            return try Metalink(document, schemes: Attempt.schemes)
        }
    }
}

extension FileSystem {
    /// The bytes of a regular file, as many as a metalink may have and one more.
    ///
    /// Neither a pipe without a writer nor a device makes this wait.
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
