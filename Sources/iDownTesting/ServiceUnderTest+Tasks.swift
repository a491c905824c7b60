// SPDX-License-Identifier: Apache-2.0

package import DBus

extension ServiceUnderTest {
    /// Waits until a task is in one of these states, if it is not yet.
    ///
    /// - Returns: The state.
    @discardableResult
    package func waitForState(
        _ states: String...,
        of id: String,
        limit: Duration = .seconds(60)
    ) async throws -> String {
        let mark = signals.count
        let present = try await state(of: id)
        if states.contains(present) { return present }
        let signal = try await signals.first(
            after: mark,
            "task \(id), \(present), to be \(states.joined(separator: " or "))",
            limit: limit
        ) { signal in
            signal.member == "TaskChanged" && signal.arguments.first == .string(id)
                && states.contains { signal.arguments.dropFirst().first == .string($0) }
        }
        guard case .string(let state) = signal.arguments[1] else { return "" }
        return state
    }

    /// Waits until the service has received this many bytes of a task.
    package func waitForBytes(_ count: Int64, of id: String) async throws {
        let mark = signals.count
        let present = try await task(id)["DownloadedBytes"]
        if case .uint64(let bytes) = present, bytes >= UInt64(count) { return }
        try await signals.first(
            after: mark,
            "\(count) bytes of task \(id), which has \(String(describing: present))"
        ) { signal in
            guard signal.member == "TaskChanged", signal.arguments.first == .string(id),
                let last = signal.arguments.last,
                let changed = try? [String: Value](busValue: last),
                case .uint64(let bytes) = changed["DownloadedBytes"]
            else { return false }
            return bytes >= UInt64(count)
        }
    }

    /// Returns the properties of a task from `GetTask`.
    package func task(_ id: String) async throws(BusError) -> [String: Value] {
        try await manager.call("GetTask", id, returning: [String: Value].self)
    }

    /// Returns the state of a task from `GetTask`.
    package func state(of id: String) async throws -> String {
        guard case .string(let state) = try await task(id)["State"] else { return "" }
        return state
    }

    /// Returns the states of a task that `TaskChanged` has announced so far, one per change, once it
    /// has announced `last`: an answer may come before the signal.
    package func announcedStates(
        of id: String,
        through last: String
    ) async throws -> [String] {
        try await signals.first(after: 0, "task \(id) to be announced as \(last)") { signal in
            signal.member == "TaskChanged" && signal.arguments.first == .string(id)
                && signal.arguments.dropFirst().first == .string(last)
        }
        var states: [String] = []
        for signal in signals.signals where signal.arguments.first == .string(id) {
            guard signal.member == "TaskChanged", case .string(let state) = signal.arguments[1],
                states.last != state
            else { continue }
            states.append(state)
        }
        return states
    }
}
