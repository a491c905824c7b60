// SPDX-License-Identifier: Apache-2.0

import iDownData
package import iDownState

extension Coordinator {
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
            return [record.failure?.message ?? "failed"]
        case .waiting(.queue):
            let count = try await counts()[.downloading]
            return ["queue: \(count) of \(slots) running"]
        case .waiting(.retry(let time)):
            let left = backOffs.deadline(of: id).map { $0 - .now } ?? time.since(.now)
            return ["retry in \(Self.shown(left))\(Self.inBrackets(record.failure))"]
        case .waiting(.offline):
            return ["offline"]
        case .waiting(.space):
            return ["disk full\(Self.inBrackets(record.failure))"]
        }
    }

    private static func shown(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        return seconds < 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
    }

    /// As short as people want it beside the reason.
    private static func inBrackets(_ failure: Failure?) -> String {
        guard let message = failure?.message else { return "" }
        let start = "the server answered "
        return " (\(message.hasPrefix(start) ? String(message.dropFirst(start.count)) : message))"
    }
}
