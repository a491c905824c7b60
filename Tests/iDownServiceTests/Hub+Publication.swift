// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import iDownData
import iDownState
import iDownTesting
import iDownloader

/// Runs `body` with a task whose file may have its name, as far as the record knows.
///
/// An attempt gave it the name `b` and could neither say so nor make it last, and the service was
/// started again since. `a` was taken in that moment. Without `begins` nothing starts by itself; nor
/// does the server answer before its gate is open, where it has one, but for the first request.
func withUntoldPublication(
    _ state: TaskState,
    named name: String = "b",
    _ faults: FaultPlan? = nil,
    begins: Bool = true,
    gate: FaultServer.Gate? = nil,
    _ body: (Hub, TaskID, FaultServer) async throws -> Void
) async throws {
    let isLater = Mutex(false)
    let server = try FaultServer(
        script: FaultServer.Script { request in
            let steps = ServedFile(.small).answer(to: request)
            guard let gate, isLater.withLock({ $0 }) else { return steps }
            return [.wait(for: gate)] + steps
        }
    )
    defer { server.stop() }
    try await withTemporaryFolder { folder in
        let id = try await withHub(in: folder) { hub in
            let id = try await hub.add(server.url("/a"))
            try await hub.announced.wait(for: id, .completed)
            isLater.withLock { $0 = true }
            return id
        }
        try await withHub(in: folder, fileFaults: faults, begins: begins) { store, files in
            guard rename(files + "/a", files + "/" + name) == 0 else { throw CannotRename() }
            try await store.rewrite(id) { untold in
                untold.state = state
                untold.failure = Failure(.fileFailed, "fsync: Input/output error")
                untold.file?.name = name == "b" ? "a" : "b"
                untold.intent = .publish(name: "b")
                untold.segments = SegmentMap()
                untold.integrity = nil
                untold.finishedAt = nil
            }
        } _: { hub in
            try await body(hub, id, server)
        }
    }
}

private struct CannotRename: Error {}

extension Store {
    /// Changes a record as no event would.
    func rewrite(_ id: TaskID, _ change: @escaping @Sendable (inout TaskRecord) -> Void)
        async throws
    {
        try await commit { transaction in
            guard let record = try transaction.task(id) else { return }
            var changed = record
            change(&changed)
            try transaction.update(changed, from: record)
        }
    }
}
