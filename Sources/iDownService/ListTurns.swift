// SPDX-License-Identifier: Apache-2.0

import DBus

/// Who makes a long answer next: few at a time, and the clients in turns.
///
/// Each may be megabytes. A client that asks a thousand times and reads nothing would fill the
/// memory with them, and the answers to all others would stand behind them.
struct ListTurns {
    /// More would not come sooner, and each holds its answer in memory.
    static let most = 2

    private var running = 0
    private var lines: [String: [@Sendable () -> Void]] = [:]
    /// Clients with calls that wait, those first that have waited longest for a turn.
    private(set) var clients: [String] = []

    /// Whether the next one has to wait.
    var isFull: Bool { running == Self.most }

    /// Calls `start` when it is the client's turn, at once where nobody waits.
    ///
    /// What it starts ends with ``end()``.
    mutating func begin(of client: String, _ start: @escaping @Sendable () -> Void) {
        guard isFull else {
            running += 1
            return start()
        }
        if lines[client] == nil { clients.append(client) }
        lines[client, default: []].append(start)
    }

    /// One that was started is over: the next one starts.
    mutating func end() {
        guard !clients.isEmpty else {
            running -= 1
            return
        }
        let client = clients.removeFirst()
        let start = lines[client]?.removeFirst()
        if lines[client]?.isEmpty == true {
            lines[client] = nil
        } else {
            clients.append(client)
        }
        start?()
    }
}

extension ManagerService {
    /// Has a long answer made in its turn, and not before the bus has taken what was sent.
    ///
    /// - Throws: `CancellationError` where the caller has left while it waited: who asks a thousand
    ///   times and goes is no reason to make a thousand lists.
    func inTurn<Value>(_ call: Call, _ body: () async throws -> Value) async throws -> Value {
        let hasToWait = listTurns.isFull
        await withCheckedContinuation { continuation in
            listTurns.begin(of: call.sender?.rawValue ?? "") { continuation.resume() }
        }
        defer { listTurns.end() }
        try Task.checkCancellation()
        await call.connection.flush()
        if hasToWait, await call.isForNobody { throw CancellationError() }
        return try await body()
    }
}

extension Call {
    /// Whether the caller is not on the bus any more.
    var isForNobody: Bool {
        get async {
            guard let sender else { return false }
            do throws(BusError) {
                return try await connection.owner(of: sender) == nil
            } catch {
                return false
            }
        }
    }
}
