// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import Testing
import iDownState
import iDownTesting

@testable import iDownloader

@Suite(.timeLimit(.minutes(2))) struct RateGateTests {
    /// A gate whose time goes by when a test says so.
    private final class Scene: Sendable {
        private let time = Mutex(Duration.zero)
        /// How often somebody waits for the next sharing out, or has waited.
        let waits = Counter()
        private let turns = AsyncStream<Void>.makeStream()
        let resumed = Mutex<[Int]>([])
        let task: TaskID

        init() throws { task = try #require(TaskID(rawValue: 1)) }

        func makeGate() -> RateGate {
            RateGate(
                now: { self.time.withLock { $0 } },
                wait: {
                    self.waits.add()
                    for await _ in self.turns.stream { return }
                }
            )
        }

        /// Lets time go by and everybody have their share.
        func advance(_ duration: Duration) {
            time.withLock { $0 += duration }
            turns.continuation.yield()
        }

        func waitForResumptions(_ count: Int) async throws {
            try await within("\(count) resumptions") {
                while self.resumed.withLock({ $0.count < count }) { await Task.yield() }
            }
        }
    }

    /// Where bytes go that a valve lets through.
    private final class Store {
        var bytes: [UInt8] = []
        var verdict: BodyVerdict

        init(verdict: BodyVerdict = .taken) { self.verdict = verdict }

        func offer(_ piece: [UInt8], to valve: RateValve) -> BodyVerdict {
            piece.withUnsafeBytes { valve.pass($0, take) }
        }

        private func take(_ taken: UnsafeRawBufferPointer) -> BodyVerdict {
            if verdict == .taken { bytes += taken }
            return verdict
        }
    }

    @Test func `without a limit nothing is held, and nobody wakes up`() throws {
        let scene = try Scene()
        let gate = scene.makeGate()
        gate.join(scene.task, limit: 0)
        let stream = gate.valve(for: scene.task).stream
        gate.connect(stream) {}
        #expect(gate.take(1 << 30, for: stream) == 1 << 30)
        #expect(gate.limit(for: scene.task) == nil)
        #expect(scene.waits.count == 0)
    }

    @Test func `who waits is resumed in turn, and then nobody wakes up any more`() async throws {
        let scene = try Scene()
        let gate = scene.makeGate()
        gate.join(scene.task, limit: 0)
        gate.setLimit(10_000)
        #expect(gate.limit(for: scene.task) == 10_000)
        let streams = (1...2).map { _ in gate.valve(for: scene.task).stream }
        for stream in streams {
            gate.connect(stream) { scene.resumed.withLock { $0.append(stream.number) } }
            #expect(gate.take(1000, for: stream) == 0)
        }
        scene.advance(.milliseconds(200))
        try await scene.waitForResumptions(2)
        #expect(scene.resumed.withLock { $0 } == [1, 2])
        #expect(streams.map { gate.take(1000, for: $0) } == [1000, 1000])
        let waits = scene.waits.count
        #expect(waits == 1)
        // There is a wait again only when somebody waits again.
        #expect(gate.take(1000, for: streams[0]) == 0)
        scene.advance(.milliseconds(100))
        try await scene.waitForResumptions(3)
        #expect(scene.waits.count == 2)
    }

    @Test func `when the limit goes, who waits goes on`() async throws {
        let scene = try Scene()
        let gate = scene.makeGate()
        gate.join(scene.task, limit: 1)
        let stream = gate.valve(for: scene.task).stream
        gate.connect(stream) { scene.resumed.withLock { $0.append(1) } }
        #expect(gate.take(1000, for: stream) == 0)
        gate.setLimit(of: scene.task, to: 0)
        scene.advance(.zero)
        try await scene.waitForResumptions(1)
        #expect(gate.take(1 << 30, for: stream) == 1 << 30)
    }

    @Test func `who has gone is held no longer, and not resumed`() throws {
        let scene = try Scene()
        let gate = scene.makeGate()
        gate.join(scene.task, limit: 1)
        let stream = gate.valve(for: scene.task).stream
        gate.connect(stream) { scene.resumed.withLock { $0.append(1) } }
        #expect(gate.take(1000, for: stream) == 0)
        gate.disconnect(stream)
        #expect(gate.take(1000, for: stream) == 1000)
        scene.advance(.seconds(1000))
        gate.leave(scene.task)
        #expect(gate.limit(for: scene.task) == nil)
        #expect(scene.resumed.withLock { $0 }.isEmpty)
    }

    /// The first bytes may come before whoever asked for them has gone on.
    @Test func `who is not known yet waits as well, and is resumed once it is`() async throws {
        let scene = try Scene()
        let gate = scene.makeGate()
        gate.join(scene.task, limit: 10_000)
        let (early, late) = (gate.valve(for: scene.task).stream, gate.valve(for: scene.task).stream)
        for stream in [early, late] { #expect(gate.take(1000, for: stream) == 0) }
        gate.connect(early) { scene.resumed.withLock { $0.append(1) } }
        scene.advance(.milliseconds(200))
        try await scene.waitForResumptions(1)
        gate.connect(late) { scene.resumed.withLock { $0.append(2) } }
        try await scene.waitForResumptions(2)
        #expect([early, late].map { gate.take(1000, for: $0) } == [1000, 1000])
        // Over before that, it is never resumed.
        let gone = gate.valve(for: scene.task).stream
        gate.disconnect(gone)
        gate.connect(gone) { scene.resumed.withLock { $0.append(3) } }
        #expect(gate.take(1000, for: gone) == 1000)
    }

    @Test func `of a piece that went in part, only the rest goes later`() async throws {
        let scene = try Scene()
        let gate = scene.makeGate()
        gate.join(scene.task, limit: 10_000)
        let valve = gate.valve(for: scene.task)
        gate.connect(valve.stream) { scene.resumed.withLock { $0.append(1) } }
        let content = TestContent(seed: 1, count: 5000)
        let store = Store()
        var offered = content.bytes[...]
        var round = 0
        while !offered.isEmpty {
            // Offered again in other pieces: the head is the same.
            let piece = Array(offered.prefix([3000, 3500, 700, 5000][round % 4]))
            round += 1
            let verdict = store.offer(piece, to: valve)
            switch verdict {
            case .taken, .kept: offered = offered.dropFirst(piece.count)
            case .pause:
                let count = scene.resumed.withLock { $0.count }
                scene.advance(.milliseconds(70))
                try await scene.waitForResumptions(count + 1)
            case .abort: Issue.record("nothing was wrong")
            }
        }
        #expect(store.bytes == content.bytes)
    }

    @Test func `what could not be stored is offered again, and counts once`() throws {
        let scene = try Scene()
        let gate = scene.makeGate()
        gate.join(scene.task, limit: 10_000)
        let valve = gate.valve(for: scene.task)
        gate.connect(valve.stream) {}
        scene.advance(.milliseconds(100))
        let piece = [UInt8](repeating: 1, count: 1000)
        let store = Store(verdict: .pause)
        for _ in 1...5 { #expect(store.offer(piece, to: valve) == .pause) }
        #expect(store.bytes.isEmpty)
        store.verdict = .taken
        #expect(store.offer(piece, to: valve) == .taken)
        #expect(store.bytes == piece)
        #expect(store.offer(piece, to: valve) == .pause)
        #expect(store.bytes == piece)
    }

    @Test(arguments: [(1, 1024), (8000, 2000), (1 << 20, 256 << 10), (.max, 512 << 10)])
    func `a low limit reads little at once`(_ limit: Int64, _ size: Int) throws {
        var request = TransferRequest(url: try URLReference("http://e.org/"))
        request.slow(to: limit)
        #expect(request.receiveBufferSize == size)
    }
}
