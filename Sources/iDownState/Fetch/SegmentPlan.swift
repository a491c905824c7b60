// SPDX-License-Identifier: Apache-2.0

/// Plans what the connections of one transfer do next.
///
/// The plan decides about one moment and has no effects. It gives what is missing to as many
/// connections as are wanted, so that all of them end together. A free gap is asked for. A segment
/// is split, behind a safe zone that its own connection still fills. A segment that is far slower
/// than the others, or the last one, is raced.
package struct SegmentPlan: Hashable, Sendable {
    /// A smaller share is not worth a request of its own (256 KiB).
    package static let smallestShare: Int64 = 256 << 10
    /// What a connection may have under way beyond what its speed tells (64 KiB).
    static let leastSafeZone: Int64 = 64 << 10
    /// A segment that is done sooner than this is left to its connection.
    package static let shortestHelp: Duration = .milliseconds(250)
    /// How long a segment is watched before it can be called slow.
    package static let patience: Duration = .seconds(1)
    /// A segment is slow if its rate is less than this part of the others' rate.
    package static let slowPart = 0.1

    /// The range that one connection fetches.
    package struct Segment: Hashable, Sendable, Identifiable {
        package let id: Int
        /// The offset of the next byte to receive.
        package var position: Int64
        /// The offset after the last byte that the connection is to bring.
        package var end: Int64
        /// The offset after the last byte of its answer, which may go on past ``end``; 0 where that
        /// is unknown.
        package var answerEnd: Int64 = 0
        /// Whether the head of its answer has been judged, so that bytes come.
        package var isJudged = true
        /// The time since its head was judged, or since it was asked for.
        package var age = Duration.zero
        /// The rate over the last second; nil while it is too early to say.
        package var bytesPerSecond: Int64?
        /// The id of the segment that it races; nil where it races none.
        package var rival: Int?
    }

    /// One decision.
    package enum Step: Hashable, Sendable {
        /// Ask for a range that no connection fetches.
        case open(ByteRange)
        /// Ask for the end of a segment; its connection continues alone until the answer is there.
        case split(Int, ByteRange)
        /// Let a connection go on up to this offset, although others work at the bytes there.
        case extend(Int, to: Int64)
        /// Ask for the rest of a segment, whose connection continues as well.
        case race(Int, ByteRange)
        /// End a connection that is no longer useful.
        case cut(Int)
        /// End a slow connection; a new one is to bring its rest.
        case replace(Int)
    }

    /// The file's length.
    package var total: Int64
    /// The bytes received, including those of open connections.
    package var stored: SegmentMap
    /// What the connections work at, in the order of their ids.
    package var segments: [Segment]
    /// How many connections are wanted.
    package var wanted: Int
    /// The most connections; a race may add one to those that are wanted.
    package var ceiling: Int
    /// How many more connections the hosts allow.
    package var room = Int.max
    /// How long a request waits for the head of its answer.
    package var headTime: Duration = .milliseconds(50)
    /// The bytes a second that one connection typically brings; nil while that is unknown.
    package var typical: Int64?
    /// Whether the rest of a slow segment may be asked for a second time.
    package var mayRace = true
    /// Whether a slow connection may be ended for a new one, where no further one is allowed.
    package var mayReplace = false

    /// The decisions, in the order in which they are to be carried out.
    package var steps: [Step] {
        let cuts = uselessSegments + surplusSegments
        guard cuts.isEmpty else {
            // What these leave is assigned by the next plan, when they are gone.
            return cuts.map(Step.cut)
        }
        let takeovers = segments.compactMap(takeover)
        guard takeovers.isEmpty else { return takeovers }
        let free = min(wanted - segments.count, room)
        let shares = free > 0 ? shares(among: free) : []
        guard shares.isEmpty else { return shares }
        if mayReplace, let uselessRacer { return [.replace(uselessRacer)] }
        let left = min(ceiling - segments.count, room)
        if left > 0 { return mayRace ? races(atMost: left) : [] }
        return mayReplace ? replaceable.map { [.replace($0)] } ?? [] : []
    }

    /// The ids of segments whose bytes have all come from other connections.
    private var uselessSegments: [Int] {
        segments.filter { missing(from: $0.position, to: $0.end).isEmpty }.map(\.id)
    }

    /// The ids of the youngest segments, where there are more than allowed.
    private var surplusSegments: [Int] {
        let racers = segments.count { $0.rival != nil }
        let surplus = segments.count - min(ceiling, wanted + racers)
        return surplus > 0 ? segments.suffix(surplus).map(\.id) : []
    }

    /// Returns the parts of a range that have not come.
    func missing(from first: Int64, to end: Int64) -> [ByteRange] {
        stored.gaps(upTo: end).compactMap { ByteRange(from: max(first, $0.first), to: $0.end) }
    }
}
