// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// One request of a transfer while it runs: what it asked for, and where the answer goes.
///
/// Belongs to its transfer's actor.
final class Connection {
    let number: TransferInbox.ConnectionNumber
    let ask: Ask
    let hop: Hop
    let sink: ResponseSink
    let handle: TransferHandle
    /// What its head turned out to be; nil before it is complete.
    var judgement: Judgement?
    /// Where its body goes; nil before the head is judged, and where nothing is to be stored.
    var writer: SegmentWriter?
    /// What the writer's comparison is to show, until it has.
    var proof: Proof?

    init(
        _ number: TransferInbox.ConnectionNumber,
        _ ask: Ask,
        at hop: Hop,
        sink: ResponseSink,
        handle: TransferHandle
    ) {
        self.number = number
        self.ask = ask
        self.hop = hop
        self.sink = sink
        self.handle = handle
    }
}
