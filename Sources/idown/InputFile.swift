// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownView

/// Files that the command line names, and `-` for standard input.
enum InputFile {
    /// Returns the name of a file in messages.
    static func name(of path: String) -> String {
        ["-": "standard input", "": "''"][path] ?? path
    }

    /// Refuses standard input if several options name it, because the first one reads all of it.
    static func check(_ paths: [String?]) throws {
        guard paths.count(where: { $0 == "-" }) > 1 else { return }
        throw ValidationError("- is standard input, which can be read for one option only")
    }

    /// Returns the whole text, without a byte order mark.
    ///
    /// - Throws: `ExitCode` after telling what is wrong with the file.
    static func text(of path: String) throws -> String {
        do throws(Failure) {
            return try read(path)
        } catch {
            Output.complain("\(name(of: path)): \(error.reason)")
            throw ExitStatus.fileFailure.exit
        }
    }

    private struct Failure: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }

        /// By errno.
        init() { reason = String(cString: strerror(errno)) }
    }

    /// The most bytes of a file; a list of 100,000 URLs of usual length has a tenth of this.
    private static let maximumBytes = 256 << 20

    /// open(2).
    private static func read(_ path: String) throws(Failure) -> String {
        if path != "-" { Disk.wait(for: path) }
        let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure() }
        defer { if path != "-" { close(file) } }
        guard let bytes = Descriptor.read(file, atMost: maximumBytes) else { throw Failure() }
        guard bytes.count <= maximumBytes else {
            throw Failure("is longer than \(ByteCount(UInt64(maximumBytes)))")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure("is not text in UTF-8")
        }
        return text.unicodeScalars.first == "\u{FEFF}"
            ? String(text.unicodeScalars.dropFirst()) : text
    }
}
