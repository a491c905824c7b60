// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The signals about the list, without the list itself; one task may iterate over it.
///
/// It serves who asks for pages of the list with ``ManagerClient/findTasks(_:)``. It begins with
/// ``ListNews/anew``, which says that everything must be asked anew; so does each new service, and the
/// loss of signals because more came than were taken. It ends with the connection.
public struct ListSignals: AsyncSequence, Sendable {
    /// The error that iterating can throw.
    public typealias Failure = ManagerError

    let client: ManagerClient

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(client: client) }

    /// An iterator.
    public struct Iterator: AsyncIteratorProtocol {
        let client: ManagerClient
        private var signals: SignalSequence<Proxy.Event>.Iterator?

        init(client: ManagerClient) { self.client = client }

        /// The next news; nil at the end of the connection.
        ///
        /// - Throws: What the bus answers to the wish to listen.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ManagerError) -> ListNews? {
            while true {
                guard signals != nil else {
                    signals = try await client.signalsAndOwners().makeAsyncIterator()
                    // The owner of this moment.
                    _ = try? await signals?.next()
                    return .anew
                }
                let event: Proxy.Event?
                do throws(BusError) {
                    event = try await signals?.next()
                } catch {
                    signals = nil
                    continue
                }
                switch event {
                case nil: return nil
                case .owner(nil): return .left
                case .owner: return .anew
                case .signal(let signal):
                    switch ManagerNews(signal) {
                    case .one(let event): return .event(event)
                    case .changed(let ids, let state, let common):
                        return .changed(ids, state, common)
                    case .removed(let ids): return .removed(ids)
                    case .added: return .anew
                    case nil: break
                    }
                }
            }
        }

        /// The next news; nil at the end of the connection.
        public mutating func next() async throws(ManagerError) -> ListNews? {
            try await next(isolation: nil)
        }
    }
}

extension ManagerClient {
    /// Tells what changes in the list, for who asks for its pages; listening starts no service.
    public func listSignals() -> ListSignals { ListSignals(client: self) }
}
