// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
package import iDownState

/// The present progress of a running transfer; any thread reads it without waiting.
package final class LiveProgress: Sendable {
    package enum Activity: String, Sendable {
        case connecting, transferring, verifying
    }

    private struct State {
        /// The stored ranges, without those of connections that are open.
        var stored: SegmentMap
        var writers: [SegmentWriter] = []
        var places: [Place] = []
        /// The bytes of the whole file; nil while unknown.
        var total: Int64?
        var activity = Activity.connecting
    }

    /// A connection that is open.
    private struct Place {
        let number: Int
        let url: URLReference
        let ask: Ask
        let sink: ResponseSink
        var writer: SegmentWriter?
        var since: TimeAndChance.Instant?

        func connection(at now: TimeAndChance.Instant) -> OpenConnection {
            var speed: Int64 = 0
            if let writer, let since, now > since {
                let rate = Double(writer.position - writer.start) / ((now - since) / .seconds(1))
                speed = Int64(exactly: rate.rounded()) ?? .max
            }
            return OpenConnection(
                host: url.host,
                protocolName: url.isHTTP ? (sink.isByHTTP2 ? "h2" : "http/1.1") : url.scheme,
                first: ask.offset,
                length: ask.end.map { $0 - ask.offset },
                speed: speed
            )
        }
    }

    private let state: Mutex<State>

    package init(stored: SegmentMap, total: Int64?) {
        state = Mutex(State(stored: stored, total: total))
    }

    /// The ranges received so far, those in buffers included.
    var taken: SegmentMap { map { $0.taken } }

    /// The bytes received so far, those in buffers included; none counts twice.
    package var bytes: Int64 { taken.byteCount }

    /// The ranges written so far, those not yet synced included.
    package var segments: SegmentMap { map { $0.written } }

    private func map(_ range: (SegmentWriter) -> ByteRange?) -> SegmentMap {
        var (map, writers) = state.withLock { ($0.stored, $0.writers) }
        for writer in writers {
            if let range = range(writer) { map.insert(range) }
        }
        return map
    }

    /// Shows these ranges as stored.
    func store(_ segments: SegmentMap) { state.withLock { $0.stored = segments } }

    /// Drops a writer whose bytes are stored or given up.
    func leave(_ writer: SegmentWriter) {
        state.withLock { state in state.writers.removeAll { $0 === writer } }
    }

    /// The bytes of the whole file; nil while unknown.
    package internal(set) var total: Int64? {
        get { state.withLock(\.total) }
        set { state.withLock { $0.total = newValue } }
    }

    package internal(set) var activity: Activity {
        get { state.withLock(\.activity) }
        set { state.withLock { $0.activity = newValue } }
    }

    /// The state of an open connection at one moment.
    package struct OpenConnection: Hashable, Sendable {
        /// The host's name.
        package let host: String
        /// `http/1.1`, `h2`, `ftp`, `ftps` or `sftp`.
        package let protocolName: String
        /// The offset of the first requested byte.
        package let first: Int64
        /// The number of requested bytes; nil if the range has no end.
        package let length: Int64?
        /// Bytes a second since its first byte; 0 before it.
        package let speed: Int64
    }

    /// Shows a connection as open.
    ///
    /// Only the transfer calls it.
    func open(_ number: Int, at url: URLReference, asking ask: Ask, answeredTo sink: ResponseSink) {
        let place = Place(number: number, url: url, ask: ask, sink: sink)
        state.withLock { $0.places.append(place) }
    }

    /// Counts what a connection's writer takes from now on.
    ///
    /// Only the transfer calls it.
    func store(_ number: Int, in writer: SegmentWriter, at now: TimeAndChance.Instant) {
        state.withLock { state in
            state.writers.append(writer)
            guard let index = state.places.firstIndex(where: { $0.number == number }) else {
                return
            }
            state.places[index].writer = writer
            state.places[index].since = now
        }
    }

    /// Shows a connection as closed.
    func close(_ number: Int) {
        state.withLock { state in state.places.removeAll { $0.number == number } }
    }

    /// The number of open connections.
    package var connections: Int { state.withLock(\.places).count }

    /// Returns the open connections, the oldest first.
    package func openConnections(at now: TimeAndChance.Instant) -> [OpenConnection] {
        state.withLock(\.places).map { $0.connection(at: now) }
    }
}
