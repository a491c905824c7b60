// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownState
import iDownloader

/// Says in words why a task does not move (contract, Explain).
struct Explanation {
    let record: TaskRecord
    /// What keeps a task of the queue from starting although a slot may be free.
    let obstacle: Obstacle?
    /// How many tasks run, and how many may.
    let slots: (used: Int, all: Int)
    /// How long its present wait for the next try still lasts.
    let wait: Duration
    /// How many bytes its disk lacks; nil where that cannot be told, or there is enough by now.
    let missingSpace: Int64?
    /// What is wrong in the settings file, and where; nil where nothing is.
    let settings: String?

    /// Looks at all that may keep a task from moving.
    init(of record: TaskRecord, in coordinator: isolated Coordinator) async throws {
        self.record = record
        let surroundings = coordinator.holds.surroundings(in: coordinator)
        obstacle = surroundings().obstacle(
            for: record.request.origin,
            directory: record.request.directory,
            hasFile: record.file != nil
        )
        settings = coordinator.holds.wishes.onSettings
        let deadline = coordinator.retries.deadline(of: record.id)
        if case .waiting(.retry(let end)) = record.state {
            let time = coordinator.time
            wait = deadline.map { $0 - time.now } ?? end.since(time.date)
        } else {
            wait = .zero
        }
        slots = (try await coordinator.counts()[.downloading], coordinator.slots.count)
        if let needed = record.failure?.neededSpace, record.state == .waiting(.space),
            let free = await coordinator.engine.freeSpace(in: record.request.directory)?.bytes
        {
            missingSpace = free < needed ? needed - free : nil
        } else {
            missingSpace = nil
        }
    }

    /// One sentence or two; none for a task that moves or is completed.
    var reasons: [String] {
        if record.isMoving, record.state.kind == .waiting { return ["its file is being moved"] }
        switch record.state {
        case .downloading, .completed:
            return []
        case .paused:
            return ["paused by the user"]
        case .cancelled:
            return ["cancelled by the user"]
        case .failed:
            let message = record.failure?.message(for: record.id)
            return [message ?? "The download failed for an unknown reason."]
        case .waiting(.queue):
            return [obstacleReason ?? "queue: \(slots.used) of \(slots.all) running"]
        case .waiting(.retry):
            let retry = "retry in \(Self.shown(wait))\(Self.inBrackets(record.failure))"
            return [retry] + [end].compactMap(\.self)
        case .waiting(.offline):
            return ["offline"]
        case .waiting(.metered):
            return ["metered network"]
        case .waiting(.battery):
            return ["low battery"]
        case .waiting(.space):
            return ["disk full\(missingSpace.map { ": \(Self.shown(bytes: $0)) missing" } ?? "")"]
        case .waiting(.settings):
            return [settingsReason]
        }
    }

    /// When a task that is tried again is given up; nil where it is never given up.
    private var end: String? {
        // A host that asked for a pause is no failure.
        guard record.tries > 0, let failure = record.failure else { return nil }
        if let tries = record.stretch.triesLeft(after: failure) {
            return "gives up after \(max(1, tries)) more \(tries > 1 ? "tries" : "try")"
        }
        return record.stretch.left.map {
            "gives up in \(Self.shown($0 + max(.zero, wait))) if nothing comes by then"
        }
    }

    private var obstacleReason: String? {
        switch obstacle {
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

    private var settingsReason: String {
        "settings: \(settings ?? "the file has just been mended")"
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
