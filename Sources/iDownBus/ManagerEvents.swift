// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The signals of the service, in the order in which they were sent; one task may iterate over
/// them.
///
/// The sequence continues over a restart of the service and ends with the connection. Signals that
/// this version does not know are skipped.
public struct ManagerEvents: AsyncSequence, Sendable {
    /// The error that iterating can throw.
    public typealias Failure = ManagerError

    private let signals: SignalSequence

    init(_ signals: SignalSequence) {
        self.signals = signals
    }

    /// Creates an iterator over the events.
    public func makeAsyncIterator() -> Iterator {
        Iterator(signals: signals.makeAsyncIterator())
    }

    /// An iterator over the events.
    public struct Iterator: AsyncIteratorProtocol {
        var signals: SignalSequence.Iterator

        /// The next event; nil at the end.
        ///
        /// - Throws: `LimitsExceeded` if too many were not taken.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ManagerError) -> ManagerEvent? {
            while let signal = try await nextSignal(isolation: actor) {
                if let event = ManagerEvent(signal.member, signal.arguments) { return event }
            }
            return nil
        }

        /// The next event; nil at the end.
        public mutating func next() async throws(ManagerError) -> ManagerEvent? {
            try await next(isolation: nil)
        }

        private mutating func nextSignal(
            isolation actor: isolated (any Actor)?
        ) async throws(ManagerError) -> Signal? {
            do throws(BusError) {
                return try await signals.next(isolation: actor)
            } catch {
                throw ManagerError(error)
            }
        }
    }
}
