// SPDX-License-Identifier: Apache-2.0

import DBus

/// Decides whose long answer is made next: few at a time, and clients in turns.
///
/// Each answer may take megabytes, and seconds where a client asks for the whole list. A client that
/// calls a thousand times and reads nothing would otherwise fill the memory with answers, and hold
/// up those of all other clients.
struct AnswerTurns {
    /// The most answers that are made at once.
    ///
    /// More would not be faster, and each is held in memory.
    static let most = 3
    /// The most of them for one client, so that it leaves a turn to others.
    static let mostOfClient = 2

    /// How many answers are being made for each client.
    private var served: [String: Int] = [:]
    private var lines: [String: [@Sendable () -> Void]] = [:]
    /// The clients with waiting calls; the one that has waited longest for a turn comes first.
    private(set) var clients: [String] = []

    /// Whether the client's next call has to wait.
    func hasToWait(_ client: String) -> Bool {
        served[client, default: 0] == Self.mostOfClient || served.values.reduce(0, +) == Self.most
    }

    /// Calls `start` when it is the client's turn; at once if fewer than ``most`` answers are being
    /// made, and fewer than ``mostOfClient`` for this client.
    ///
    /// Each answer that was started has to end with ``end(of:)``.
    mutating func begin(of client: String, _ start: @escaping @Sendable () -> Void) {
        guard hasToWait(client) else {
            served[client, default: 0] += 1
            return start()
        }
        if lines[client] == nil { clients.append(client) }
        lines[client, default: []].append(start)
    }

    /// Notes the end of a client's answer, and starts the next one.
    mutating func end(of client: String) {
        let left = served[client, default: 1] - 1
        served[client] = left > 0 ? left : nil
        guard let place = clients.firstIndex(where: { !hasToWait($0) }) else { return }
        let next = clients.remove(at: place)
        let start = lines[next]?.removeFirst()
        if lines[next]?.isEmpty == true {
            lines[next] = nil
        } else {
            clients.append(next)
        }
        served[next, default: 0] += 1
        start?()
    }
}

extension ManagerService {
    /// Makes a long answer when it is the client's turn, and the bus has taken what was sent.
    ///
    /// - Throws: `CancellationError` where the caller left during the wait, so that a client which
    ///   calls a thousand times and leaves does not cause a thousand lists.
    func inTurn<Value>(_ call: Call, _ body: () async throws -> Value) async throws -> Value {
        let client = call.sender?.rawValue ?? ""
        let hasToWait = answerTurns.hasToWait(client)
        await withCheckedContinuation { continuation in
            answerTurns.begin(of: client) { continuation.resume() }
        }
        defer { answerTurns.end(of: client) }
        try Task.checkCancellation()
        await call.connection.flush()
        if hasToWait, await call.isForNobody { throw CancellationError() }
        return try await body()
    }
}

extension Call {
    /// Whether the caller has left the bus, or the bus itself is gone.
    var isForNobody: Bool {
        get async {
            guard let sender else { return false }
            do throws(BusError) {
                return try await connection.owner(of: sender) == nil
            } catch {
                return error.isDisconnected
            }
        }
    }
}
