// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The facts about a task that lists and live lines show, as texts of one line.
package struct TaskSummary: Sendable {
    package let task: TaskProperties
    private let hidesSecrets: Bool

    /// Takes a task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - hidesSecrets: Whether a URL that stands for a name is cut before its query: the query may
    ///     hold a token, and messages end up in logs.
    package init(_ task: TaskProperties, hidesSecrets: Bool = false) {
        self.task = task
        self.hidesSecrets = hidesSecrets
    }

    /// The file's name; the URL while there is none.
    package var name: CellText {
        guard task.fileName.isEmpty else { return CellText(task.fileName) }
        return CellText(hidesSecrets ? ShownURL(of: task).description : task.url)
    }

    /// The file's name; while there is none, the last part of the URL, decoded.
    package var shortName: CellText {
        guard task.fileName.isEmpty else { return CellText(task.fileName) }
        let path = task.url.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/")
        guard let last = parts.last, !path.hasSuffix("/"), parts.count > 2 else { return name }
        return CellText(Self.decoded(last) ?? String(last))
    }

    /// The text percent-decoded (RFC 3986 section 2.1); nil where the result is not UTF-8.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let digits = String(rest.prefix(2)),
                let value = UInt8(digits, radix: 16), !digits.hasPrefix("+")
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// From 0 to 1; nil while the size is not known.
    package var fraction: Double? {
        guard task.state != .completed else { return 1 }
        guard let total = task.knownTotal else { return nil }
        guard total > 0 else { return 0 }
        return min(1, Double(task.downloadedBytes) / Double(total))
    }

    /// Whole percents, rounded down, so that 100 % means that all bytes are there.
    package var percent: String {
        guard let fraction else { return "-" }
        return "\(Int(fraction * 100))%"
    }

    /// The size of the whole file; while that is not known, of what is on disk.
    package var size: String {
        if let total = task.knownTotal { return ByteCount(total).description }
        return task.downloadedBytes > 0 ? ByteCount(task.downloadedBytes).description : "-"
    }

    /// The bytes on disk, and the size of the whole file.
    package var bytes: String {
        guard task.state != .completed, let total = task.knownTotal else {
            return ByteCount(task.downloadedBytes).description
        }
        return "\(ByteCount(task.downloadedBytes)) / \(ByteCount(total))"
    }

    package var speed: String {
        task.state == .downloading ? ByteRate(task.speed).description : ""
    }

    /// The time left at a speed; empty where it is not known.
    package func timeLeft(bytesPerSecond: UInt64) -> String {
        guard task.state == .downloading, let total = task.knownTotal,
            total >= task.downloadedBytes,
            let left = TimeLeft(
                remaining: total - task.downloadedBytes,
                bytesPerSecond: bytesPerSecond
            )
        else { return "" }
        return left.description
    }

    /// Why the task failed or waits, a failure with its code; empty for other states.
    package var reason: CellText {
        if task.state == .failed {
            return CellText("\(task.errorCode): \(task.errorMessage)")
        }
        guard task.state == .waiting else { return CellText("") }
        if let hold { return CellText(hold) }
        if !task.errorMessage.isEmpty { return CellText("tries again: \(task.errorMessage)") }
        return CellText(task.hold == .queue ? "waits for a free slot" : "")
    }

    /// The first sentence of ``reason`` without the code, for a narrow column.
    var shortReason: CellText {
        let text =
            switch task.state {
            case .failed where !task.errorMessage.isEmpty: task.errorMessage
            default: reason.description
            }
        let end = text.firstRange(of: ". ")?.lowerBound ?? text.endIndex
        let sentence = text[..<end]
        return CellText(String(sentence.last == "." ? sentence.dropLast() : sentence))
    }

    /// What has to change before a waiting task can start; nil for a free slot or the next try, and
    /// for a hold that this version does not know.
    private var hold: String? {
        switch task.hold {
        case .offline: "waits for a network"
        case .metered: "waits for a network that is not metered"
        case .battery: "waits for the battery to be charged"
        case .space: "waits for room on the disk"
        default: nil
        }
    }
}
