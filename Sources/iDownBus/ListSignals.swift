// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The changes of the list, without the list itself; one task may iterate over them.
///
/// Use it together with pages of the list from ``ManagerClient/findTasks(_:)``. The first element
/// is ``ListNews/anew``: ask for all pages again. The same element follows whenever a service
/// starts, many tasks are added at once, or signals are lost because too many were waiting. The
/// sequence ends with the connection.
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

        /// Returns the next news; nil at the end of the connection.
        ///
        /// - Throws: The bus's error if it does not accept the match rules.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ManagerError) -> ListNews? {
            while true {
                guard signals != nil else {
                    signals = try await client.signalsAndOwners().makeAsyncIterator()
                    // Skip the present owner: `.anew` covers it.
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
                    guard let news = ManagerNews(signal) else { continue }
                    return news.ofList ?? .anew
                }
            }
        }

        /// Returns the next news; nil at the end of the connection.
        public mutating func next() async throws(ManagerError) -> ListNews? {
            try await next(isolation: nil)
        }
    }
}

extension ManagerClient {
    /// Returns the changes of the list, for clients that ask for its pages; does not start the
    /// service.
    public func listSignals() -> ListSignals { ListSignals(client: self) }
}
