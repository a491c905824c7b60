// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownView

/// A list of downloads in a file or on standard input.
enum ListFile {
    /// Reads a list; says what is wrong with it, and what in it has no effect.
    static func read(_ path: String) throws -> DownloadList {
        let name = path == "-" ? "standard input" : path
        do {
            let text = try text(of: path)
            let isJSON = text.first { !$0.isWhitespace } == "["
            let list = isJSON ? try DownloadList(json: text) : try DownloadList(text)
            for (option, line) in list.ignored.sorted(by: { $0.value < $1.value }) {
                Output.complain("\(name): line \(line): \(option) has no effect here")
            }
            return list
        } catch let mistake as DownloadList.Mistake {
            Output.complain("\(name): \(mistake)")
            throw ExitStatus.refusedOption.exit
        } catch let failure as Failure {
            Output.complain("\(name): \(failure.reason)")
            throw ExitStatus.fileFailure.exit
        }
    }

    private struct Failure: Error {
        let reason: String
    }

    /// 100,000 URLs of usual length are a tenth of it.
    private static let maximumBytes = 256 << 20

    private static func text(of path: String) throws -> String {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(reason: String(cString: strerror(errno))) }
        defer { if path != "-" { close(descriptor) } }
        var bytes: [UInt8] = []
        while true {
            let count = try read(descriptor, into: &bytes)
            if count == 0 { break }
            guard bytes.count <= maximumBytes else {
                throw Failure(reason: "is longer than \(ByteCount(UInt64(maximumBytes)))")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(reason: "is no text in UTF-8")
        }
        return text
    }

    /// One read(2), behind what is there; 0 at the end.
    private static func read(_ descriptor: CInt, into bytes: inout [UInt8]) throws -> Int {
        try withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count >= 0 {
                    bytes.append(contentsOf: buffer.prefix(count))
                    return count
                }
                guard errno == EINTR else {
                    throw Failure(reason: String(cString: strerror(errno)))
                }
            }
        }
    }
}
