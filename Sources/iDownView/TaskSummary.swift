// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The facts about a task that lists and live lines show, as texts of one line.
package struct TaskSummary: Sendable {
    package let task: TaskProperties
    private let hidesSecrets: Bool

    /// Creates the summary of a task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - hidesSecrets: Whether a URL in place of a name is shown without its query. The query may
    ///     hold a token, and messages are often kept in logs.
    package init(_ task: TaskProperties, hidesSecrets: Bool = false) {
        self.task = task
        self.hidesSecrets = hidesSecrets
    }

    /// The file's name, or the URL while the file has no name.
    package var name: CellText {
        guard task.fileName.isEmpty else { return CellText(task.fileName) }
        return CellText(hidesSecrets ? ShownURL(of: task).description : task.url)
    }

    /// The file's name, or the last part of the URL, decoded, while the file has no name.
    package var shortName: CellText {
        guard task.fileName.isEmpty else { return CellText(task.fileName) }
        let path = task.url.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/")
        guard let last = parts.last, !path.hasSuffix("/"), parts.count > 2 else { return name }
        return CellText(URLText.percentDecoded(last) ?? String(last))
    }

    /// The host of the URL, with its port.
    var source: String {
        guard let scheme = task.url.firstRange(of: "://") else { return "" }
        return String(task.url[scheme.upperBound...].prefix { !"/?#".contains($0) })
    }

    /// The downloaded part of the file, from 0 to 1; nil while the size is unknown.
    package var fraction: Double? {
        guard task.state != .completed else { return 1 }
        guard let total = task.knownTotal else { return nil }
        guard total > 0 else { return 0 }
        return min(1, Double(task.downloadedBytes) / Double(total))
    }

    /// The percentage, rounded down, so that 100% means that all bytes are on disk.
    package var percent: String {
        guard let fraction else { return "-" }
        return shown(percent: UInt(fraction * 100))
    }

    /// The size of the file, or the number of bytes on disk while the size is unknown.
    package var size: String {
        if let total = task.knownTotal { return ByteCount(total).description }
        return task.downloadedBytes > 0 ? ByteCount(task.downloadedBytes).description : "-"
    }

    /// The bytes on disk and, until the download is completed, the size of the file; empty while
    /// neither is there.
    package var bytes: String {
        if task.state != .completed, task.knownTotal == nil, task.downloadedBytes == 0 { return "" }
        guard task.state != .completed, let total = task.knownTotal else {
            return ByteCount(task.downloadedBytes).description
        }
        return "\(ByteCount(task.downloadedBytes)) / \(ByteCount(total))"
    }

    package var speed: String { task.state == .downloading ? ByteRate(task.speed).description : "" }

    /// Returns the time left at a speed; empty if it is unknown.
    package func timeLeft(bytesPerSecond: UInt64) -> String {
        left(bytesPerSecond: bytesPerSecond)?.description ?? ""
    }

    /// Returns the time left at a speed; nil if it is unknown.
    func left(bytesPerSecond: UInt64) -> TimeLeft? {
        guard task.state == .downloading, let total = task.knownTotal,
            total >= task.downloadedBytes
        else { return nil }
        return TimeLeft(remaining: total - task.downloadedBytes, bytesPerSecond: bytesPerSecond)
    }

    /// The reason why the task failed, its finished file is not what it should be, or its file was
    /// not moved (with its code), or why it waits; empty otherwise.
    package var reason: CellText {
        if task.state == .failed || (task.state == .completed && !task.errorCode.isEmpty)
            || keepsFileInPlace
        {
            return CellText("\(task.errorCode): \(task.errorMessage)")
        }
        guard task.state == .waiting else { return CellText("") }
        let hold = task.hold.title
        let words = CellText(hold.prefix(1).lowercased() + hold.dropFirst())
        let waitsForTurn = task.hold == .queue || task.hold == .retry
        if !waitsForTurn, !hold.isEmpty { return words }
        // The failure of the last attempt tells more than the wait for the next one.
        if !task.errorMessage.isEmpty { return CellText("tries again: \(task.errorMessage)") }
        return words
    }

    /// Whether an unfinished task tells why its file could not be moved: other failures of the file
    /// make it wait or fail.
    package var keepsFileInPlace: Bool {
        (task.state == .downloading || task.state == .paused)
            && FailureGroup(errorCode: task.errorCode) == .file
    }

    /// The first sentence of ``reason`` without the code, for a narrow column, where of an HTTP
    /// status that and its phrase stay; of a file that was not moved all sentences, because the
    /// first may be about the disk only.
    var shortReason: CellText {
        if keepsFileInPlace { return CellText(task.errorMessage) }
        let text =
            switch task.state {
            case .failed where !task.errorMessage.isEmpty,
                .completed where !task.errorMessage.isEmpty:
                task.errorMessage
            default: reason.description
            }
        let end = text.firstRange(of: ". ")?.lowerBound ?? text.endIndex
        let sentence = text[..<end]
        let words = sentence.last == "." ? sentence.dropLast() : sentence
        return CellText(String(words).replacing("The server answered HTTP ", with: "HTTP "))
    }
}

extension TaskProperties {
    /// Whether the task changes no more by itself: it completed, failed or was cancelled.
    package var hasEnded: Bool { state.isEnd }
}

extension TaskProperties.State {
    /// Whether a task in this state has ended: it is completed, failed or cancelled.
    package var isEnd: Bool { self == .completed || self == .failed || self == .cancelled }
}
