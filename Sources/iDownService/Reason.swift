// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownState

/// One reason why a task makes no progress: as data for programs, and as text with the same values.
///
/// Each reason is defined only here, and documented at ExplainCodes.
struct Reason: Sendable {
    let data: TaskReason
    let text: String

    private init(_ code: String, _ values: [String: Value] = [:], _ text: String) {
        data = TaskReason(code, values)
        self.text = text
    }

    static let paused = Reason("paused", "paused by the user")
    static let cancelled = Reason("cancelled", "cancelled by the user")
    static let offline = Reason("offline", "offline")
    static let metered = Reason("metered", "metered network")
    static let battery = Reason("battery", "low battery")
    static let disk = Reason("disk", "its disk does not answer")
    static let moving = Reason("moving", "its file is being moved")

    private init(_ code: String, _ text: String) { self.init(code, [:], text) }

    static func failed(_ failure: Failure?, of id: TaskID) -> Reason {
        let message = failure?.message(for: id) ?? "The download failed for an unknown reason."
        return Reason("failed", values(of: failure, message), message)
    }

    /// Returns the reason that the task waits for a slot.
    ///
    /// - Parameters:
    ///   - running: How many tasks run.
    ///   - slots: How many tasks may run.
    ///   - stuck: How many of the running tasks are on a disk that does not answer.
    /// - Returns: The reason.
    static func queue(running: Int, slots: Int, stuck: Int = 0) -> Reason {
        var values: [String: Value] = [
            "running": .uint32(UInt32(clamping: running)),
            "slots": .uint32(UInt32(clamping: slots)),
        ]
        if stuck > 0 { values["stuck"] = .uint32(UInt32(clamping: stuck)) }
        let end = stuck > 0 ? ", \(stuck) of them on a disk that does not answer" : ""
        return Reason("queue", values, "queue: \(running) of \(slots) running\(end)")
    }

    /// Returns the reason that the task waits for its next try.
    ///
    /// - Parameters:
    ///   - wait: How long until the next try.
    ///   - now: The present time.
    ///   - failure: What ended the last try; nil where the wait has another cause.
    /// - Returns: The reason.
    static func retry(after wait: Duration, at now: WallTime, of failure: Failure?) -> Reason {
        var values = values(of: failure, failure?.message)
        values["at"] = time(wait, after: now)
        return Reason("retry", values, "retry in \(wait.roundedUp)\(inBrackets(failure))")
    }

    static func hostRests(for rest: Duration, at now: WallTime) -> Reason {
        Reason(
            "host-rests",
            ["at": time(rest, after: now)],
            "retry in \(rest.roundedUp) (the server is busy, or asked for a pause)"
        )
    }

    /// Returns the reason that other tasks have all connections to a host.
    static func hostFull(_ host: String) -> Reason {
        Reason(
            "host-full",
            ["host": .string(host), "connections": .uint32(UInt32(HostLimits.most))],
            "host full: other downloads have all \(HostLimits.most) connections to \(host)"
        )
    }

    static func givesUp(afterTries tries: UInt32) -> Reason {
        let tries = max(1, tries)
        return Reason(
            "gives-up",
            ["tries": .uint32(tries)],
            "gives up after \(tries) more \(tries > 1 ? "tries" : "try")"
        )
    }

    static func givesUp(after time: Duration, at now: WallTime) -> Reason {
        Reason(
            "gives-up",
            ["at": Self.time(time, after: now)],
            "gives up in \(time.roundedUp) if nothing comes by then"
        )
    }

    /// Returns the reason that the disk is full.
    ///
    /// - Parameter missing: How many bytes the disk lacks; nil where that is unknown.
    /// - Returns: The reason.
    static func space(missing: Int64?) -> Reason {
        guard let missing else { return Reason("space", "disk full") }
        return Reason(
            "space",
            ["missing": .uint64(UInt64(clamping: missing))],
            "disk full: \(shown(bytes: missing)) missing"
        )
    }

    /// Returns the reason that the settings file has a mistake.
    ///
    /// - Parameter mistake: What is wrong in the settings file; nil if it was corrected just now.
    /// - Returns: The reason.
    static func settings(_ mistake: String?) -> Reason {
        Reason(
            "settings",
            mistake.map { ["message": .string($0)] } ?? [:],
            "settings: \(mistake ?? "the file has just been mended")"
        )
    }
}

// The values and texts of which reasons are made.
extension Reason {
    private static func values(of failure: Failure?, _ message: String?) -> [String: Value] {
        var values: [String: Value] = [:]
        if let failure { values["error"] = .string(failure.code.rawValue) }
        if let message { values["message"] = .string(message) }
        return values
    }

    private static func time(_ wait: Duration, after now: WallTime) -> Value {
        .uint64(UInt64(clamping: now.advanced(by: max(.zero, wait)).microseconds))
    }

    /// Returns a size with a decimal unit and one decimal digit, rounded up so that it is enough to
    /// free the amount shown.
    private static func shown(bytes: Int64) -> String {
        guard bytes >= 1000 else { return "\(bytes) B" }
        let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
        var tenths = (bytes - 1) / 100 + 1
        var unit = 0
        while tenths >= 10_000, unit + 1 < units.count {
            tenths = (tenths - 1) / 1000 + 1
            unit += 1
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// Returns why the last try failed, in brackets: `HTTP 503`, else the message's first sentence.
    private static func inBrackets(_ failure: Failure?) -> String {
        guard let message = failure?.message else { return "" }
        let start = "The server answered "
        if message.hasPrefix(start + "HTTP ") {
            return " (\(message.dropFirst(start.count).prefix("HTTP 503".count)))"
        }
        let end = message.firstRange(of: ". ")?.lowerBound ?? message.endIndex
        let sentence = message[..<end]
        return " (\(sentence.hasSuffix(".") ? sentence.dropLast() : sentence))"
    }
}
