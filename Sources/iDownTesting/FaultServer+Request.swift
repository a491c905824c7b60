// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A request as a ``FaultServer`` saw it.
package struct RecordedRequest: Sendable {
    /// The number of the request at this server, counted from 1.
    package let number: Int
    /// The number of its connection, counted from 1.
    package let connection: Int
    /// The method, for example `GET`.
    package let method: String
    /// The target as sent: path and query, or a whole URL.
    package let target: String
    /// All header fields in order; values are trimmed.
    package let fields: [(name: String, value: String)]
    /// Whether the connection is over by now.
    package var hasEnded: Bool { endedAt != nil }
    /// When the server noticed the end of the connection; nil while it is open.
    package var endedAt: ContinuousClock.Instant? { life.endedAt }
    let life: ConnectionLife
    /// How many bytes of the answer's body were written to the socket so far.
    package fileprivate(set) var bodyBytesSent: Int64 = 0

    /// The target without its query.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The value of the first field with a name; case is ignored.
    package subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Returns the range of a file of `count` bytes that the Range field requests; nil without one.
    ///
    /// It understands `bytes=first-last`. An empty range means that no requested byte exists (416).
    package func range(of count: Int64) -> Range<Int64>? {
        guard let field = self["Range"], field.hasPrefix("bytes=") else { return nil }
        let parts = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        switch (Int64(parts[0]), Int64(parts[1])) {
        case (let first?, let last?) where first <= last:
            // A range that begins behind the end of the file cannot be satisfied.
            return first < count ? first..<(min(last, count - 1) + 1) : 0..<0
        case (let first?, nil) where parts[1].isEmpty:
            return (min(first, count)..<count).checked(within: count)
        case (nil, let suffix?) where parts[0].isEmpty:
            return (max(0, count - suffix)..<count).checked(within: count)
        default:
            return nil
        }
    }
}

extension RecordedRequest {
    /// Reads a request's head without the empty line at its end; nil if it is not a request.
    init?(head: [UInt8], connection: Int, life: ConnectionLife, number: Int) {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        guard let words = lines.first?.split(separator: " "), words.count == 3 else { return nil }
        self.number = number
        self.connection = connection
        self.life = life
        method = String(words[0])
        target = String(words[1])
        fields = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            let value = line.dropFirst(name.count + 1).drop { $0 == " " }
            return (String(name), String(value))
        }
    }
}

extension Range<Int64> {
    fileprivate func checked(within count: Int64) -> Range<Int64> {
        lowerBound < count ? self : 0..<0
    }
}

/// The end of a connection, and its time.
final class ConnectionLife: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    var endedAt: ContinuousClock.Instant? { end.withLock(\.self) }

    func noteEnd() { end.withLock { $0 = .now } }
}

/// The requests that a server has received, and the tasks that wait for more.
final class RequestLog: Sendable {
    private struct State {
        var requests: [RecordedRequest] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<RecordedRequest, Never>)] = []
    }

    private let state = Mutex(State())

    var requests: [RecordedRequest] { state.withLock(\.requests) }

    func add(head: [UInt8], connection: Int, life: ConnectionLife) -> RecordedRequest? {
        state.withLock { state in
            let number = state.requests.count + 1
            let request = RecordedRequest(
                head: head,
                connection: connection,
                life: life,
                number: number
            )
            guard let request else { return nil }
            state.requests.append(request)
            for waiter in state.waiters where waiter.count == number {
                waiter.continuation.resume(returning: request)
            }
            state.waiters.removeAll { $0.count == number }
            return request
        }
    }

    func addBodyBytes(_ count: Int, to request: RecordedRequest) {
        state.withLock { $0.requests[request.number - 1].bodyBytesSent += Int64(count) }
    }

    func waitForRequest(count: Int) async -> RecordedRequest {
        precondition(count >= 1, "requests are counted from 1")
        return await withCheckedContinuation { continuation in
            state.withLock { state in
                if state.requests.count >= count {
                    continuation.resume(returning: state.requests[count - 1])
                } else {
                    state.waiters.append((count, continuation))
                }
            }
        }
    }
}
