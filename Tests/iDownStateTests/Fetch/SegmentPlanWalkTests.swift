// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

/// Whole downloads in a made-up world, driven by the plan alone.
@Suite(.timeLimit(.minutes(2))) struct SegmentPlanWalkTests {
    /// The file did not come in a time in which anything would.
    struct NeverDone: Error {}

    /// A world that gives each connection a rate of its own.
    struct World {
        var random: SeededGenerator
        var total: Int64 = 64 << 20
        var rates: [Int64] = [2 << 20]
        /// Heads come after so many ticks of 50 ms.
        var headTicks = 2
        /// Of a hundred connections so many are refused, and so many break while bytes come.
        var refusals = 0
        var breaks = 0
        var wanted = 8
        var ceiling = 8

        private struct Worker {
            var piece: SegmentPlan.Piece
            var meter: RateMeter
            let rate: Int64
            let start: Int64
            var ticks = 0
            let victim: Int?
        }

        private static let tick = Duration.milliseconds(50)

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        private mutating func chance(of hundred: Int) -> Bool {
            Int.random(in: 0..<100, using: &random) < hundred
        }

        /// Downloads the file.
        ///
        /// - Returns: seconds, requests, and how many bytes came that were there already.
        mutating func run() throws -> (seconds: Double, requests: Int, doubled: Int64) {
            var stored = SegmentMap()
            var workers: [Worker] = []
            var lastID = 0
            var received: Int64 = 0
            var requests = 0
            func worker(_ range: ByteRange, _ rate: Int64, victim: Int?, rival: Int?) -> Worker {
                lastID += 1
                requests += 1
                var piece = SegmentPlan.Piece(
                    id: lastID,
                    position: range.first,
                    end: range.end,
                    isJudged: false
                )
                piece.rival = rival
                return Worker(
                    piece: piece,
                    meter: RateMeter(count: range.first, at: .zero),
                    rate: rate,
                    start: range.first,
                    victim: victim
                )
            }
            for tick in 0..<20_000 {
                let now = Self.tick * tick
                // What the connections do in this time.
                for index in workers.indices.reversed() {
                    workers[index].ticks += 1
                    let age = Self.tick * workers[index].ticks
                    guard workers[index].piece.isJudged else {
                        workers[index].piece.age = age
                        guard workers[index].ticks >= headTicks else { continue }
                        if lastID > 1, chance(of: refusals) {
                            workers.remove(at: index)
                            continue
                        }
                        workers[index].piece.isJudged = true
                        workers[index].ticks = 0
                        workers[index].meter = RateMeter(count: workers[index].start, at: now)
                        let first = workers[index].start
                        let id = workers[index].victim
                        if let victim = workers.firstIndex(where: { $0.piece.id == id }) {
                            let end = workers[victim].piece.end
                            workers[victim].piece.end = min(end, first)
                        }
                        continue
                    }
                    let rest = max(0, workers[index].piece.end - workers[index].piece.position)
                    let step = min(rest, workers[index].rate / 20)
                    received += step
                    workers[index].piece.position += step
                    let position = workers[index].piece.position
                    if let range = ByteRange(from: workers[index].start, to: position) {
                        stored.insert(range)
                    }
                    workers[index].meter.read(position, at: now)
                    workers[index].piece.age = age
                    workers[index].piece.bytesPerSecond = workers[index].meter.perSecond
                    // Silence for a minute ends a connection.
                    let isSilent = workers[index].rate == 0 && workers[index].ticks >= 1200
                    if step == rest || isSilent || chance(of: breaks) {
                        workers.remove(at: index)
                    }
                }
                if stored.covers(total) {
                    return (Double(tick) / 20, requests, received - total)
                }
                guard tick > 0 else {
                    let whole = try #require(ByteRange(from: 0, to: total))
                    workers.append(worker(whole, rates[0], victim: nil, rival: nil))
                    continue
                }
                workers.sort { $0.piece.id < $1.piece.id }
                let plan = SegmentPlan(
                    total: total,
                    stored: stored,
                    pieces: workers.map(\.piece),
                    wanted: wanted,
                    ceiling: ceiling,
                    headTime: Self.tick * headTicks,
                    typical: rates.max(),
                    mayReplace: true
                )
                let steps = plan.steps
                try check(steps, plan)
                for step in steps {
                    switch step {
                    case .cut(let id), .replace(let id): workers.removeAll { $0.piece.id == id }
                    case .open(let range):
                        workers.append(worker(range, nextRate(lastID), victim: nil, rival: nil))
                    case .split(let id, let range):
                        workers.append(worker(range, nextRate(lastID), victim: id, rival: nil))
                    case .race(let id, let range):
                        workers.append(worker(range, nextRate(lastID), victim: nil, rival: id))
                    }
                }
            }
            throw NeverDone()
        }

        private func nextRate(_ lastID: Int) -> Int64 { rates[lastID % rates.count] }

        /// What must hold of the decisions of any moment.
        private func check(_ steps: [SegmentPlan.Step], _ plan: SegmentPlan) throws {
            var asked = SegmentMap()
            var count = 0
            var cuts = 0
            for step in steps {
                switch step {
                case .cut(let id), .replace(let id):
                    cuts += 1
                    #expect(plan.pieces.contains { $0.id == id })
                case .open(let range):
                    count += 1
                    let isFree = plan.pieces.allSatisfy {
                        $0.end <= range.first || $0.position >= range.end || $0.position >= $0.end
                    }
                    #expect(isFree, "\(range) is worked at")
                    try insert(range, into: &asked)
                case .split(let id, let range):
                    count += 1
                    let piece = try #require(plan.pieces.first { $0.id == id })
                    #expect(piece.isJudged)
                    #expect(piece.position < range.first && range.end <= piece.end)
                    try insert(range, into: &asked)
                case .race(let id, let range):
                    count += 1
                    let piece = try #require(plan.pieces.first { $0.id == id })
                    #expect(piece.position <= range.first && range.end <= piece.end)
                    try insert(range, into: &asked)
                }
            }
            #expect(count == 0 || plan.pieces.count + count <= plan.ceiling)
            #expect(count == 0 || cuts == 0)
        }

        /// Nothing is given to two at once.
        private func insert(_ range: ByteRange, into asked: inout SegmentMap) throws {
            let before = asked.byteCount
            asked.insert(range)
            #expect(asked.byteCount == before + range.length, "\(range) was given away twice")
        }
    }

    @Test func `equal connections end together`() throws {
        var world = World(seed: 1)
        let (seconds, requests, doubled) = try world.run()
        // 64 MiB at 16 MiB a second, and two heads.
        #expect(seconds <= 4.3, "\(seconds) s")
        #expect(requests <= 16, "\(requests) requests")
        #expect(doubled < 4 << 20, "\(doubled) bytes twice")
    }

    @Test func `one slow connection of four costs little`() throws {
        var world = World(seed: 2)
        world.total = 8 << 20
        world.rates = [1 << 20, 1 << 20, 20_000, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20]
        world.wanted = 4
        world.ceiling = 4
        let (seconds, _, _) = try world.run()
        #expect(seconds <= 3, "\(seconds) s")
    }

    @Test func `a host that refuses all that is added costs nothing`() throws {
        var world = World(seed: 3)
        world.refusals = 100
        let (seconds, _, doubled) = try world.run()
        #expect(seconds <= 32.3, "\(seconds) s")
        #expect(doubled == 0)
    }

    @Test(arguments: 0..<300)
    func `whatever the world does, every byte comes`(seed: Int) throws {
        var world = World(seed: UInt64(seed))
        var random = SeededGenerator(seed: UInt64(seed) &* 77 &+ 5)
        world.total = Int64.random(in: 1...(40 << 20), using: &random)
        world.wanted = Int.random(in: 1...16, using: &random)
        world.ceiling = Int.random(in: world.wanted...16, using: &random)
        world.headTicks = Int.random(in: 1...20, using: &random)
        world.refusals = [0, 0, 30, 90].randomElement(using: &random) ?? 0
        world.breaks = [0, 0, 1, 5].randomElement(using: &random) ?? 0
        world.rates = (0..<12).map { _ in Int64.random(in: 200_000...(8 << 20), using: &random) }
        if seed % 3 == 0 { world.rates[3] = 0 }
        if seed % 5 == 0 { world.rates[7] = 1000 }
        _ = try world.run()
    }
}
