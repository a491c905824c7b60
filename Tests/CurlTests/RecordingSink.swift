// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import iDownTesting

/// Keeps all that it is given; says what a test wants it to say at one point of the body.
final class RecordingSink: TransferSink {
    private struct State {
        var lines: [String] = []
        var body: [UInt8] = []
        var files: [RemoteFile] = []
        var point: (offset: Int, verdict: BodyVerdict)?
    }

    /// Opened when the body has come to the point.
    let reachedPoint = FaultServer.Gate()
    private let state: Mutex<State>
    private let takesHeaders: Bool

    /// Once `offset` bytes are there the next piece gets `verdict`, and is kept if that is `taken`;
    /// without `takesHeaders` the first header line ends the transfer.
    init(
        at offset: Int? = nil,
        _ verdict: BodyVerdict = .taken,
        takesHeaders: Bool = true
    ) {
        state = Mutex(State(point: offset.map { ($0, verdict) }))
        self.takesHeaders = takesHeaders
    }

    var lines: [String] { state.withLock(\.lines) }
    var body: [UInt8] { state.withLock(\.body) }

    /// What a server of files said.
    var files: [RemoteFile] { state.withLock(\.files) }

    func receive(remoteFile: RemoteFile) {
        state.withLock { $0.files.append(remoteFile) }
    }

    func receive(headerLine: UnsafeRawBufferPointer) -> Bool {
        state.withLock { $0.lines.append(String(decoding: headerLine, as: UTF8.self)) }
        return takesHeaders
    }

    func receive(body: UnsafeRawBufferPointer) -> BodyVerdict {
        let (verdict, isAtPoint): (BodyVerdict, Bool) = state.withLock { state in
            var verdict = BodyVerdict.taken
            var isAtPoint = false
            if let point = state.point, state.body.count >= point.offset {
                state.point = nil
                (verdict, isAtPoint) = (point.verdict, true)
            }
            if case .taken = verdict { state.body.append(contentsOf: body) }
            return (verdict, isAtPoint)
        }
        if isAtPoint { reachedPoint.open() }
        return verdict
    }
}

/// Runs `body` with a pool of its own and shuts the pool down afterwards.
func withPool<Value>(
    faults: CallFaults? = nil,
    _ body: (TransferPool) async throws -> Value
) async throws -> Value {
    let pool = try TransferPool(faults: faults?.strikes)
    do {
        let value = try await body(pool)
        await pool.shutDown()
        return value
    } catch {
        await pool.shutDown()
        throw error
    }
}

extension TransferPool {
    /// One transfer from its start to its end.
    nonisolated func run(
        _ request: TransferRequest,
        sink: any TransferSink = RecordingSink()
    ) async -> TransferOutcome {
        await begin(request, sink: sink).outcome()
    }
}
