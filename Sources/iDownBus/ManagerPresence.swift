// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// Whether the service is there: an element each time that it comes (true) or goes (false).
///
/// The sequence ends with the connection.
public struct ManagerPresence: AsyncSequence, Sendable {
    /// What goes wrong.
    public typealias Failure = ManagerError

    private let signals: SignalSequence

    init(_ signals: SignalSequence) {
        self.signals = signals
    }

    /// Takes the changes one by one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(signals: signals.makeAsyncIterator())
    }

    /// Takes the changes one by one.
    public struct Iterator: AsyncIteratorProtocol {
        var signals: SignalSequence.Iterator

        /// The next change; nil at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ManagerError) -> Bool? {
            do throws(BusError) {
                // NameOwnerChanged: name, old owner, new owner; empty for nobody.
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
