// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// What the bus tells of the service, in the order in which it was sent; one task may iterate over
/// it.
///
/// The sequence continues over a restart of the service and ends with the connection.
public struct ManagerSequence<Element>: AsyncSequence, Sendable {
    /// The error that iterating can throw.
    public typealias Failure = ManagerError

    private let signals: SignalSequence<Element>

    init(_ signals: SignalSequence<Element>) {
        self.signals = signals
    }

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(signals: signals.makeAsyncIterator())
    }

    /// An iterator.
    public struct Iterator: AsyncIteratorProtocol {
        var signals: SignalSequence<Element>.Iterator

        /// The next element; nil at the end.
        ///
        /// - Throws: `LimitsExceeded` if too many were not taken.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ManagerError) -> Element? {
            do throws(BusError) {
                return try await signals.next(isolation: actor)
            } catch {
                throw ManagerError(error)
            }
        }

        /// The next element; nil at the end.
        public mutating func next() async throws(ManagerError) -> Element? {
            try await next(isolation: nil)
        }
    }
}

/// The signals of the service; those that this version does not know are skipped.
public typealias ManagerEvents = ManagerSequence<ManagerEvent>

/// Tells when the service comes (true) and goes (false).
public typealias ManagerPresence = ManagerSequence<Bool>
