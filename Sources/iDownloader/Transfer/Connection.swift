// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// One request of a transfer while it runs: where it goes, and where the answer goes.
///
/// What has become of it stands in ``Requests``. Belongs to its transfer's actor.
final class Connection {
    let number: TransferInbox.ConnectionNumber
    let route: Requests.Route
    let hop: Hop
    let sink: ResponseSink
    let handle: TransferHandle
    /// Where its body goes; nil before the head is judged, and where nothing is to be stored.
    private(set) var writer: SegmentWriter?
    /// The one that stores nothing more.
    private var formerWriter: SegmentWriter?
    /// Its body is dropped, and not waited for after this moment; nil where it is not waited for.
    private(set) var drainsUntil: Duration?

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

    /// From now on its bytes are stored.
    func store(in writer: SegmentWriter) {
        self.writer = writer
        writer.listen(sink.listener(resuming: handle))
    }

    /// Whether it is the first one of its request.
    var isLead: Bool { route.role == .lead }

    /// Whether it has brought anything.
    var isServed: Bool { writer.map { $0.position > $0.start } ?? false }

    /// Whether all has come that there was to come: how it ended after that says nothing.
    var isSated: Bool { writer.map { $0.end != .max && $0.rest == nil } ?? false }

    /// Nothing more is stored.
    func dropWriter() {
        writer?.giveUp()
        formerWriter = writer ?? formerWriter
        writer = nil
    }

    /// Returns once nothing of what came is being written any more that is not to be stored.
    func quiet() async { await formerWriter?.quiet() }

    /// A body that is dropped is waited for at least so long, however soon its head came.
    private static let shortestDrain: Duration = .milliseconds(250)
    /// And never longer than this: what is to be done is known already.
    private static let longestDrain: Duration = .seconds(2)

    /// A short body is read to its end, so that the connection can be used again, if it comes as
    /// soon as another connection would.
    ///
    /// - Parameters:
    ///   - startedAt: when it was made.
    ///   - now: the same clock's reading.
    func dropBody(since startedAt: Duration, at now: Duration) {
        guard sink.isDrainable else { return handle.cancel() }
        if sink.drain() { handle.resume() }
        guard !sink.isDrained else { return }
        let time = (now - startedAt) * 2
        drainsUntil = now + min(max(time, Self.shortestDrain), Self.longestDrain)
    }

    /// The rest of its body is not waited for.
    func endDrain() {
        drainsUntil = nil
        handle.cancel()
    }
}
