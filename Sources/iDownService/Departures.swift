// SPDX-License-Identifier: Apache-2.0

import DBus

/// Drops the waits of clients that leave the bus.
final class Departures {
    /// Watches whether a client leaves the bus while it has calls pending.
    private final class Watch {
        let task: Task<Void, Never>
        /// How many calls of the client are served, including those that do not wait yet.
        var calls = 0

        init(_ task: Task<Void, Never>) { self.task = task }
    }

    /// How long a client's calls go without a watch.
    private static let patience: Duration = .milliseconds(100)

    private var watches: [BusName: Watch] = [:]

    /// Serves a call that may wait for long, and ends its waits when its sender leaves.
    func during<Value>(
        _ call: Call,
        in service: isolated ManagerService,
        _ body: () async throws -> Value
    ) async throws -> Value {
        guard let client = call.sender else { return try await body() }
        let watch = watches[client] ?? begin(client, over: call.connection, service)
        watch.calls += 1
        defer {
            watch.calls -= 1
            if watch.calls == 0 {
                watch.task.cancel()
                // On a later bus, the name may belong to another client.
                if watches[client] === watch { watches[client] = nil }
            }
        }
        return try await body()
    }

    private func begin(
        _ client: BusName,
        over connection: Connection,
        _ service: isolated ManagerService
    ) -> Watch {
        let watch = Watch(
            Task {
                // Most calls are answered at once, and need no match rule.
                try? await Task.sleep(for: Departures.patience)
                guard !Task.isCancelled else { return }
                // If the bus takes no match rule, the client's calls stay pending, within their
                // limit.
                let caller = Proxy(connection, client, "/", "org.freedesktop.DBus.Peer")
                guard (try? await caller.waitUntilGone()) != nil, !Task.isCancelled else { return }
                service.probes.forget(client.rawValue)
                await service.coordinator.forgetWaits(of: client.rawValue)
            }
        )
        watches[client] = watch
        return watch
    }

    /// Ends all watches: the clients of an earlier bus are gone, and the next bus may reuse their
    /// names.
    func forgetAll() {
        for watch in watches.values { watch.task.cancel() }
        watches = [:]
    }
}
