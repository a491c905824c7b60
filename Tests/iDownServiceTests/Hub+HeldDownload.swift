// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownState
import iDownTesting
import iDownloader

/// Runs `body` with a task of whose file the first megabyte has come, and no more.
///
/// The host sends the rest, to that request and to others, once the hold is opened.
func withHeldDownload(
    slots: Int = 3,
    faults: CallFaults? = nil,
    fileFaults: FaultPlan? = nil,
    _ body: (Hub, TaskID, FaultServer, ServedFile.Hold) async throws -> Void
) async throws {
    let (file, hold) = ServedFile.held()
    let server = try FaultServer.serving(file)
    defer { server.stop() }
    try await withHub(slots: slots, faults: faults, fileFaults: fileFaults) { hub in
        let id = try await hub.add(server.url("/a"))
        try await hub.arrival(of: 1 << 20, for: id)
        try await body(hub, id, server, hold)
    }
}
