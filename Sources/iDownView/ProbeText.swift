// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// What servers tell about files without downloading them.
package enum ProbeText {
    /// A file as JSON, with the keys of the method Probe.
    package struct JSON: Encodable, Sendable {
        let name: String
        let size: Int64
        let type: String
        let resumable: Bool
        let url: String

        /// Creates the object from a server's answer.
        package init(_ file: ProbedFile) {
            name = file.name
            size = file.size.map { Int64(clamping: $0) } ?? -1
            type = file.type
            resumable = file.resumable
            url = file.url
        }
    }

    /// Returns a line per fact, and an empty line between files.
    package static func lines(of files: [ProbedFile]) -> [String] {
        var lines: [String] = []
        for file in files {
            if !lines.isEmpty { lines.append("") }
            lines += [
                "Name:       \(CellText(file.name))",
                "Size:       \(file.size.map { "\(ByteCount($0)) (\($0) bytes)" } ?? "unknown")",
                "Type:       \(CellText(file.type.isEmpty ? "unknown" : file.type))",
                "Resumable:  \(file.resumable ? "yes" : "no")",
                "URL:        \(CellText(file.url))",
            ]
        }
        return lines
    }
}
