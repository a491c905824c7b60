// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A request as a ``FaultServer`` saw it.
package struct RecordedRequest: Sendable {
    /// Which request to this server it is, counted from 1.
    package let number: Int
    /// Which connection it came on, counted from 1.
    package let connection: Int
    /// For example `GET`.
    package let method: String
    /// As sent: path and query, or a whole URL.
    package let target: String
    /// All fields in order, values without the blanks around them.
    package let fields: [(name: String, value: String)]
    /// Whether the connection is over by now.
    package var hasEnded: Bool { endedAt != nil }
    /// When the server noticed that the connection is over; nil while it is open.
    package var endedAt: ContinuousClock.Instant? { life.endedAt }
    let life: ConnectionLife
    /// How many bytes of the answer's body were handed to the system so far.
    package fileprivate(set) var bodyBytesSent: Int64 = 0

    /// The target without its query.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The value of the first field of a name, in any case.
    package subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// What a `Range: bytes=first-last` asks of a file of `count` bytes; nil without such a field.
    ///
    /// Empty where it asks for nothing that exists (416).
    package func range(of count: Int64) -> Range<Int64>? {
        guard let field = self["Range"], field.hasPrefix("bytes=") else { return nil }
        let parts = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        switch (Int64(parts[0]), Int64(parts[1])) {
        case (let first?, let last?) where first <= last:
            // What lies behind the end of the file is no range at all.
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
    /// Reads a head, without the empty line at its end; nil for what is no request.
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

/// Whether a connection is over, and since when.
final class ConnectionLife: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    var endedAt: ContinuousClock.Instant? { end.withLock(\.self) }

    func noteEnd() { end.withLock { $0 = .now } }
}

/// What a server has seen, and who waits for more of it.
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
