// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The signals of the manager, in the order of their sending; one task iterates.
///
/// They go on over a restart of the service. The sequence ends with the connection. Signals that
/// this version does not know are passed over.
public struct ManagerEvents: AsyncSequence, Sendable {
    /// What goes wrong.
    public typealias Failure = ManagerError

    private let signals: SignalSequence

    init(_ signals: SignalSequence) {
        self.signals = signals
    }

    /// Takes the events one by one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(signals: signals.makeAsyncIterator())
    }

    /// Takes the events one by one.
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
