// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// A sequence that tells when the service comes (true) and goes (false).
///
/// It ends with the connection.
public struct ManagerPresence: AsyncSequence, Sendable {
    /// The error that iterating can throw.
    public typealias Failure = ManagerError

    private let signals: SignalSequence

    init(_ signals: SignalSequence) {
        self.signals = signals
    }

    /// Creates an iterator over the changes.
    public func makeAsyncIterator() -> Iterator {
        Iterator(signals: signals.makeAsyncIterator())
    }

    /// An iterator over the changes.
    public struct Iterator: AsyncIteratorProtocol {
        var signals: SignalSequence.Iterator

        /// The next change; nil at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ManagerError) -> Bool? {
            do throws(BusError) {
                // NameOwnerChanged: name, old owner, new owner; empty if nobody owns it.
                guard let signal = try await signals.next(isolation: actor) else { return nil }
                return signal.arguments.last != .string("")
            } catch {
                throw ManagerError(error)
            }
        }

        /// The next change; nil at the end.
        public mutating func next() async throws(ManagerError) -> Bool? {
            try await next(isolation: nil)
        }
    }
}
