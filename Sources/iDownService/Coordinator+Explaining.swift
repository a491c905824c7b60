// SPDX-License-Identifier: Apache-2.0

import iDownData
package import iDownState
import iDownloader

extension Coordinator {
    /// What has happened in the attempts of a task that is not complete, the oldest first.
    package func history(of id: TaskID) async throws -> [History.Entry] {
        _ = try await task(id)
        return engine.history(of: id)
    }

    /// The connections that a task has open, the oldest first.
    func connections(of id: TaskID) async throws -> [LiveProgress.OpenConnection] {
        _ = try await task(id)
        return running[id]?.live.openConnections(at: time.now) ?? []
    }

    /// Why a task does not move; empty where it does or is completed.
    package func reasons(for id: TaskID) async throws -> [String] {
        let record = try await task(id).record
        switch record.state {
        case .downloading, .completed:
            return []
        case .paused:
            return ["paused by the user"]
        case .cancelled:
            return ["cancelled by the user"]
        case .failed:
            return [
                record.failure?.message(for: id) ?? "The download failed for an unknown reason."
            ]
        case .waiting(.queue):
            if let reason = obstacle(of: record) { return [reason] }
            let count = try await counts()[.downloading]
            return ["queue: \(count) of \(slots) running"]
        case .waiting(.retry(let deadline)):
            let left = backOffs.deadline(of: id).map { $0 - time.now } ?? deadline.since(time.date)
            let retry = "retry in \(Self.shown(left))\(Self.inBrackets(record.failure))"
            return [retry] + [Self.end(of: record, after: left)].compactMap(\.self)
        case .waiting(.offline):
            return ["offline"]
        case .waiting(.metered):
            return ["metered network"]
        case .waiting(.battery):
            return ["low battery"]
        case .waiting(.space):
            return ["disk full\(await missingSpace(of: record).map { ": \($0) missing" } ?? "")"]
        case .waiting(.settings):
            return [settingsReason]
        }
    }

    /// Says when a task that is tried again is given up.
    ///
    /// - Parameters:
    ///   - record: what is known of the task.
    ///   - wait: how long its present wait still lasts.
    /// - Returns: the sentence; nil where it is never given up.
    private static func end(of record: TaskRecord, after wait: Duration) -> String? {
        // A host that asked for a pause is no failure.
        guard record.tries > 0, let failure = record.failure else { return nil }
        if let tries = record.stretch.triesLeft(after: failure) {
            return "gives up after \(max(1, tries)) more \(tries > 1 ? "tries" : "try")"
        }
        return record.stretch.left.map {
            "gives up in \(shown($0 + max(.zero, wait))) if nothing comes by then"
        }
    }

    /// What keeps a task of the queue from starting although a slot may be free.
    private func obstacle(of record: TaskRecord) -> String? {
        let obstacle = surroundings().obstacle(
            for: record.request.origin,
            directory: record.request.directory,
            hasFile: record.file != nil
        )
        return switch obstacle {
        case nil: nil
        case .offline: "offline"
        case .metered: "metered network"
        case .batteryLow: "low battery"
        case .wrongSettings: settingsReason
        case .diskFull: "disk full"
        case .hostRests(let rest):
            "retry in \(Self.shown(rest)) (the server asked for a pause)"
        }
    }

    /// What is wrong in the settings file, and where.
    private var settingsReason: String {
        "settings: \(holdWishes.onSettings ?? "the file has just been mended")"
    }

    /// How much room a task lacks; nil where that cannot be told, or there is enough by now.
    private func missingSpace(of record: TaskRecord) async -> String? {
        guard let needed = record.failure?.neededSpace,
            let free = await engine.freeSpace(in: record.request.directory)?.bytes, free < needed
        else { return nil }
        return Self.shown(bytes: needed - free)
    }

    /// With a decimal unit and one digit behind the point, rounded up: it is enough to free what
    /// it says.
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

    private static func shown(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\((seconds + 59) / 60) min"
        default: "\((seconds + 3599) / 3600) h"
        }
    }

    /// Why the last try failed, in brackets: `HTTP 503`, else the message's first sentence.
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
