// SPDX-License-Identifier: Apache-2.0

import iDownState
import iDownTesting

@testable import iDownService

extension RecordingAnnouncer {
    /// Returns once a task was told to wait for something: `retry`, `offline`, `metered`, `battery`, `space` or
    /// `settings`.
    func wait(for id: TaskID, hold: String, after mark: Int = 0) async throws {
        try await wait("task \(id) to wait for \(hold)") { all in
            all.dropFirst(mark).contains { announcement in
                guard announcement.id == id, case .changed(_, let task) = announcement else {
                    return false
                }
                return switch task.record.state {
                case .waiting(.retry): hold == "retry"
                case .waiting(.offline): hold == "offline"
                case .waiting(.metered): hold == "metered"
                case .waiting(.battery): hold == "battery"
                case .waiting(.space): hold == "space"
                case .waiting(.settings): hold == "settings"
                case .waiting(.queue), .downloading, .paused, .completed, .failed, .cancelled:
                    false
                }
            }
        }
    }
}

extension Hub {
    /// When a task in back-off is tried again; nil for any other.
    func deadline(of id: TaskID) async throws -> WallTime? {
        guard case .waiting(.retry(let deadline)) = try await record(id)?.state else { return nil }
        return deadline
    }
}
