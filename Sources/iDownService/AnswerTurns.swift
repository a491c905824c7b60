// SPDX-License-Identifier: Apache-2.0

import DBus

/// Decides whose long answer is made next: few at a time, and clients in turns.
///
/// Each answer may take megabytes. A client that calls a thousand times and reads nothing would
/// otherwise fill the memory with answers, and hold up those of all other clients.
struct AnswerTurns {
    /// The most answers that are made at once.
    ///
    /// More would not be faster, and each is held in memory.
    static let most = 2

    private var running = 0
    private var lines: [String: [@Sendable () -> Void]] = [:]
    /// The clients with waiting calls; the one that has waited longest for a turn comes first.
    private(set) var clients: [String] = []

    /// Whether the next call has to wait.
    var isFull: Bool { running == Self.most }

    /// Calls `start` when it is the client's turn; at once if fewer than ``most`` answers are being
    /// made.
    ///
    /// Each answer that was started has to end with ``end()``.
    mutating func begin(of client: String, _ start: @escaping @Sendable () -> Void) {
        guard isFull else {
            running += 1
            return start()
        }
        if lines[client] == nil { clients.append(client) }
        lines[client, default: []].append(start)
    }

    /// Notes the end of an answer, and starts the next one.
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
    /// Makes a long answer when it is the client's turn, and the bus has taken what was sent.
    ///
    /// - Throws: `CancellationError` where the caller left during the wait, so that a client which
    ///   calls a thousand times and leaves does not cause a thousand lists.
    func inTurn<Value>(_ call: Call, _ body: () async throws -> Value) async throws -> Value {
        let hasToWait = answerTurns.isFull
        await withCheckedContinuation { continuation in
            answerTurns.begin(of: call.sender?.rawValue ?? "") { continuation.resume() }
        }
        defer { answerTurns.end() }
        try Task.checkCancellation()
        await call.connection.flush()
        if hasToWait, await call.isForNobody { throw CancellationError() }
        return try await body()
    }
}

extension Call {
    /// Whether the caller has left the bus.
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
