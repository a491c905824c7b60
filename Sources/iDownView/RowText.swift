// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The texts of a download's row, in the user's language, for a list with room for sentences.
package struct RowText: Hashable, Sendable {
    /// The name of the file.
    package let name: String
    /// The host that it comes from.
    package let source: String
    /// The downloaded part from 0 to 1; nil while it is unknown.
    package let fraction: Double?
    /// "12.1 of 30.0 MiB".
    package let bytes: String
    /// Bytes per second, or what the download does instead.
    package let speed: String
    /// How long it still takes, about.
    package let timeLeft: String
    /// Why it failed, or why it waits; nil where the numbers say more.
    package let reason: String?
    /// The state for a narrow list; for a completed file that a check has found wrong, the reason.
    package let state: String
    /// Whether the download failed, or its file is gone or has changed since.
    package let isFailure: Bool
    /// State, percentage and time left in one sentence, for screen readers.
    package let description: String

    package init(_ task: TaskProperties) {
        let summary = TaskSummary(task)
        name = summary.shortName.description
        source = CellText(summary.source).description
        fraction = summary.fraction
        bytes = Self.bytes(task)
        timeLeft = summary.left(bytesPerSecond: task.speed)?.words ?? ""
        let activity = task.activity.title
        switch task.state {
        case .downloading: speed = activity.isEmpty ? ByteRate(task.speed).description : activity
        default: speed = activity.isEmpty ? task.state.title : activity
        }
        switch task.state {
        case .failed: reason = FailureText.sentence(of: task.errorCode, saying: task.errorMessage)
        // A check after the end has found that the file is gone or has changed.
        case .completed where !task.errorCode.isEmpty:
            reason = FailureText.sentence(of: task.errorCode)
        case .waiting:
            let hold = task.hold.title
            reason = hold.isEmpty ? task.state.title : hold
        case .paused where summary.keepsFileInPlace:
            reason = FailureText.text(of: task.errorCode, saying: task.errorMessage)
        default: reason = nil
        }
        let hasWrongFile = task.state == .completed && reason != nil
        state = hasWrongFile ? reason ?? "" : task.state.title
        isFailure = task.state == .failed || hasWrongFile
        var facts = [reason ?? task.state.title]
        if task.state == .downloading || task.state == .paused, fraction != nil {
            facts.append(summary.percent)
        }
        if !timeLeft.isEmpty { facts.append(timeLeft) }
        description = facts.joined(separator: ", ")
    }

    private static func bytes(_ task: TaskProperties) -> String {
        let done = ByteCount(task.downloadedBytes).description
        guard task.state != .completed else {
            return ByteCount(task.knownTotal ?? task.downloadedBytes).description
        }
        guard let total = task.knownTotal else { return task.downloadedBytes > 0 ? done : "" }
        let whole = ByteCount(total).description
        let parts = done.split(separator: " ")
        let isSameUnit = parts.last == whole.split(separator: " ").last
        return translated(
            "{done} of {total}",
            ["done": isSameUnit ? String(parts[0]) : done, "total": whole]
        )
    }
}

extension TaskProperties.State {
    /// The state as a word for people.
    package var title: String {
        switch self {
        case .waiting: translated("Waiting")
        case .downloading: translated("Downloading")
        case .paused: translated("Paused")
        case .completed: translated("Completed")
        case .failed: translated("Failed")
        case .cancelled: translated("Cancelled")
        default: rawValue
        }
    }
}

extension TaskProperties.Activity {
    /// The phase of a running task that is not transferring, as words; empty otherwise.
    package var title: String {
        switch self {
        case .connecting: translated("Connecting")
        case .verifying: translated("Checking")
        case .moving: translated("Moving")
        default: ""
        }
    }
}

extension TaskProperties.Hold {
    /// What a waiting task waits for; empty if nothing is known.
    package var title: String {
        switch self {
        case .queue: translated("Waits for a free slot")
        case .retry: translated("Tries again later")
        case .offline: translated("Waits for a network")
        case .metered: translated("Waits for a network that is not metered")
        case .battery: translated("Waits for the battery to be charged")
        case .space: translated("Waits for room on the disk")
        case .settings: translated("Waits for the settings to be mended")
        default: ""
        }
    }
}

/// Why a download failed, in the user's language.
package enum FailureText {
    /// Returns the service's message about a failure; in languages other than English, the sentence
    /// for its ErrorCode.
    package static func text(of code: String, saying message: String) -> String {
        Wording.current.isEnglish && !message.isEmpty
            ? message : sentence(of: code, saying: message)
    }

    /// Returns a message of the service for windows and notifications, without the command for which
    /// the window has a button: "give a fresh link with `idown edit 7 --url URL`".
    ///
    /// Other commands stay, because the window offers nothing in their place.
    package static func withoutEditCommand(_ message: String) -> String {
        let parts = message.split(separator: " with `idown edit ", omittingEmptySubsequences: false)
        // Each part after the first begins with words of the command, which ends at a backquote.
        let rest = parts.dropFirst().map { $0.drop { $0 != "`" }.dropFirst() }
        return (parts.prefix(1) + rest).joined()
    }

    /// Returns the sentence for an ErrorCode; for a code that is not known, that of its group.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - message: The service's message, if there is one. No code tells that the proxy of the
    ///     settings cannot be used, or that the server wants to be asked again, so the message does.
    /// - Returns: The sentence.
    package static func sentence(of code: String, saying message: String = "") -> String {
        if message.contains("`idown config proxy ") {
            return translated("The proxy in the settings cannot be used")
        }
        if message.contains("The server is still making the file") {
            return translated("The server is still making the file")
        }
        if let text = known(code) { return text }
        return switch FailureGroup(errorCode: code) {
        case .network: translated("The connection to the server broke")
        case .server: translated("The server refused the download")
        case .file: translated("The file could not be written")
        case .integrity: translated("The file is not what it should be")
        case nil: translated("The download failed")
        }
    }

    private static func known(_ code: String) -> String? {
        switch code {
        case "Network.Unreachable": translated("The server cannot be reached")
        case "Network.Timeout": translated("The server did not answer in time")
        case "Network.Stalled": translated("The server stopped sending")
        case "Network.Reset": translated("The server closed the connection")
        case "Network.TLS": translated("No secure connection to the server")
        case "Network.DNS": translated("The server's name was not found")
        case "Server.NotFound": translated("The server does not have the file")
        case "Server.Forbidden": translated("The server refuses the link; it may have expired")
        case "Server.AuthRequired": translated("The server asks for a login")
        case "Server.Busy": translated("The server is too busy")
        case "Server.Failed": translated("The server has an error")
        case "Server.Truncated": translated("The server sent only a part of the file")
        case "Server.ContentChanged": translated("The file on the server has changed")
        case "Server.TooManyRedirects": translated("The server redirects without end")
        case "File.NoSpace": translated("The disk is full")
        case "File.AccessDenied": translated("The folder cannot be written to")
        case "File.NameTooLong": translated("The file's name is too long")
        case "File.Exists": translated("The file's name is already taken")
        case "File.Vanished": translated("The file is gone")
        case "Integrity.ChecksumMismatch": translated("The checksum does not match")
        case "Integrity.SizeMismatch": translated("The size does not match")
        default: nil
        }
    }
}

extension TimeLeft {
    /// The time in words, rounded to what an estimate can tell.
    package var words: String {
        switch seconds {
        case ..<60: translated("less than a minute")
        case ..<3600:
            counted("about {count} minute", "about {count} minutes", UInt((seconds + 30) / 60))
        case ..<86_400:
            counted("about {count} hour", "about {count} hours", UInt((seconds + 1800) / 3600))
        case ..<(100 * 86_400):
            counted("about {count} day", "about {count} days", UInt((seconds + 43_200) / 86_400))
        default: translated("more than 99 days")
        }
    }
}
