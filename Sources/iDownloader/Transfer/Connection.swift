// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// One request that runs: its target, and the writer that takes its answer.
///
/// ``Requests`` holds what was decided about it. Belongs to its transfer's actor.
final class Connection {
    let number: TransferInbox.ConnectionNumber
    let route: Requests.Route
    let hop: Hop
    let sink: ResponseSink
    let handle: TransferHandle
    /// Writes the body; nil before the head is judged, and for an answer that is not stored.
    private(set) var writer: SegmentWriter?
    /// The writer that was given up, which may still finish a write.
    private var formerWriter: SegmentWriter?

    init(
        _ number: TransferInbox.ConnectionNumber,
        _ route: Requests.Route,
        at hop: Hop,
        sink: ResponseSink,
        handle: TransferHandle
    ) {
        self.number = number
        self.route = route
        self.hop = hop
        self.sink = sink
        self.handle = handle
    }

    /// Stores the body's bytes in this writer from now on.
    func store(in writer: SegmentWriter) {
        self.writer = writer
        // The sink holds the writer, so that the writer must not hold the sink.
        writer.listen { [weak sink = sink, handle] verdict in
            guard let verdict else { return handle.resume() }
            sink?.send(.compared(verdict))
        }
    }

    /// Whether this is the lead connection.
    var isLead: Bool { route.role == .lead }

    /// Whether any byte of its body was received for the file.
    var isServed: Bool { writer.map { $0.position > $0.start } ?? false }

    /// Whether the last byte that this connection was to bring was received.
    ///
    /// How it ends after that does not matter.
    var hasBroughtAll: Bool { writer.map { $0.end != .max && $0.rest == nil } ?? false }

    /// Stops storing the body.
    func dropWriter() {
        writer?.giveUp()
        formerWriter = writer ?? formerWriter
        writer = nil
    }

    /// Returns once the writer that was given up has finished its last write.
    func quiet() async { _ = await formerWriter?.flush() }

    /// The shortest wait for the end of a dropped body, however fast the head came.
    private static let shortestDrain: Duration = .milliseconds(250)
    /// The longest wait for it: the next step is known already.
    private static let longestDrain: Duration = .seconds(2)

    /// Reads a short body to its end, so that the TCP connection can be used again.
    ///
    /// - Parameter time: how long the head took, since the connection was made.
    /// - Returns: the time in which a new connection could be made, after which the caller ends
    ///   this one; nil if it is ended already.
    func dropBody(after time: Duration) -> Duration? {
        guard sink.isDrainable else {
            handle.cancel()
            return nil
        }
        sink.drain()
        handle.resume()
        return min(max(time * 2, Self.shortestDrain), Self.longestDrain)
    }
}
