// SPDX-License-Identifier: Apache-2.0

/// What the connections of one transfer are to do next.
///
/// A pure decision about one moment: what is missing is given to as many connections as are
/// wanted, so that all of them end together. A free gap is asked for; a piece is split behind a
/// safe zone ahead of its writer; one that is far slower than the others, or the last, is raced.
package struct SegmentPlan: Hashable, Sendable {
    /// Less than this is not worth a request of its own.
    package static let smallestShare: Int64 = 256 << 10
    /// What is done sooner than this is left to whoever does it.
    package static let shortestHelp: Duration = .milliseconds(250)
    /// A piece has to be watched for so long before it is called slow.
    package static let patience: Duration = .seconds(1)
    /// A piece that brings less than this part of what others bring is slow.
    package static let slowPart = 0.1

    /// What one connection works at.
    package struct Piece: Hashable, Sendable, Identifiable {
        package let id: Int
        /// The offset of the next byte that is to come.
        package var position: Int64
        /// The offset behind the last byte that it is to bring.
        package var end: Int64
        /// Whether its head has been judged, so that bytes come.
        package var isJudged: Bool
        /// Since its head was judged, else since it was asked for.
        package var age: Duration
        /// Over the last second; nil while it is too early to say.
        package var bytesPerSecond: Int64?
        /// The piece that it races.
        package var rival: Int?

        package init(
            id: Int,
            position: Int64,
            end: Int64,
            isJudged: Bool = true,
            age: Duration = .zero,
            bytesPerSecond: Int64? = nil,
            rival: Int? = nil
        ) {
            self.id = id
            self.position = position
            self.end = end
            self.isJudged = isJudged
            self.age = age
            self.bytesPerSecond = bytesPerSecond
            self.rival = rival
        }
    }

    /// One decision.
    package enum Step: Hashable, Sendable {
        /// Ask for a stretch that nobody works at.
        case open(ByteRange)
        /// Ask for the end of a piece, which goes on alone until the answer is there.
        case split(Int, ByteRange)
        /// Ask for what is left of a piece, which goes on as well.
        case race(Int, ByteRange)
        /// End a connection that is of no more use.
        case cut(Int)
        /// End a slow connection, whose rest a new one is to bring.
        case replace(Int)
    }

    /// The file's length.
    package var total: Int64
    /// What has come, the open pieces' bytes included.
    package var stored: SegmentMap
    /// In order of their ids.
    package var pieces: [Piece]
    /// How many connections are wanted.
    package var wanted: Int
    /// How many there may ever be: a race may take one more than are wanted.
    package var ceiling: Int
    /// How many more the host allows.
    package var room: Int
    /// How long a request waits for its head.
    package var headTime: Duration
    /// What a connection has been seen to bring; nil while nothing is known.
    package var typical: Int64?
    /// Whether what is slow may be asked for a second time.
    package var mayRace: Bool
    /// Whether a slow piece may be ended for a new connection where no further one is allowed.
    package var mayReplace: Bool

    package init(
        total: Int64,
        stored: SegmentMap,
        pieces: [Piece],
        wanted: Int,
        ceiling: Int,
        room: Int = .max,
        headTime: Duration = .milliseconds(50),
        typical: Int64? = nil,
        mayRace: Bool = true,
        mayReplace: Bool = false
    ) {
        self.total = total
        self.stored = stored
        self.pieces = pieces
        self.wanted = wanted
        self.ceiling = ceiling
        self.room = room
        self.headTime = headTime
        self.typical = typical
        self.mayRace = mayRace
        self.mayReplace = mayReplace
    }

    /// The decisions, in the order in which they are to be carried out.
    package var steps: [Step] {
        let cuts = uselessPieces + surplusPieces
        guard cuts.isEmpty else {
            // What they leave is given away in the next round, when they are gone.
            return cuts.map(Step.cut)
        }
        let free = min(wanted - pieces.count, room)
        let shares = free > 0 ? shares(among: free) : []
        guard shares.isEmpty else { return shares }
        if mayReplace, let uselessRacer { return [.replace(uselessRacer)] }
        let left = min(ceiling - pieces.count, room)
        if left > 0 { return mayRace ? races(atMost: left) : [] }
        return mayReplace ? replaceable.map { [.replace($0)] } ?? [] : []
    }

    /// Pieces of which every byte has come from elsewhere.
    private var uselessPieces: [Int] {
        pieces.filter { missing(from: $0.position, to: $0.end).isEmpty }.map(\.id)
    }

    /// The youngest, where there are more than may be.
    private var surplusPieces: [Int] {
        let racers = pieces.count { $0.rival != nil }
        let surplus = pieces.count - min(ceiling, wanted + racers)
        return surplus > 0 ? pieces.suffix(surplus).map(\.id) : []
    }

    /// What has not come of a stretch.
    func missing(from first: Int64, to end: Int64) -> [ByteRange] {
        stored.gaps(upTo: end).compactMap { ByteRange(from: max(first, $0.first), to: $0.end) }
    }
}
