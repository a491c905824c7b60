// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import iDownState

/// One connection's way through the rate gate.
///
/// libcurl offers the whole piece again if only a part of it was taken. The valve takes as many
/// bytes as the limit allows, pauses the transfer, and skips these bytes when the piece is offered
/// again. So limits are exact to the byte, also at 1 kB/s, and may change during a transfer.
final class RateValve: Sendable {
    private let gate: RateGate
    let stream: RateBudget.Stream
    /// The bytes at the head of what comes next that have gone already; only the transfer thread
    /// changes it.
    private let gone = Atomic<Int>(0)

    init(_ gate: RateGate, _ stream: RateBudget.Stream) {
        self.gate = gate
        self.stream = stream
    }

    /// From here on this request is what waits and is resumed.
    func connect(_ handle: TransferHandle) { gate.connect(stream) { handle.resume() } }

    /// The request is over, and waits no longer.
    func disconnect() { gate.disconnect(stream) }

    /// Hands on as much of `bytes` as may go now.
    ///
    /// - Parameters:
    ///   - bytes: what libcurl offers.
    ///   - store: takes the bytes that may go, not called for none.
    /// - Returns: what to tell libcurl: `pause` where bytes are left that may not go yet, or what
    ///   `store` said if it did not take them.
    func pass(
        _ bytes: UnsafeRawBufferPointer,
        _ store: (UnsafeRawBufferPointer) -> BodyVerdict
    ) -> BodyVerdict {
        let before = gone.load(ordering: .relaxed)
        guard before < bytes.count else {
            gone.store(before - bytes.count, ordering: .relaxed)
            return .taken
        }
        let fresh = UnsafeRawBufferPointer(rebasing: bytes[before...])
        let count = gate.take(fresh.count, for: stream)
        guard count > 0 else { return .pause }
        let verdict = store(UnsafeRawBufferPointer(rebasing: fresh[..<count]))
        switch verdict {
        case .taken, .kept:
            let isAll = count == fresh.count
            gone.store(isAll ? 0 : before + count, ordering: .relaxed)
            return isAll ? verdict : .pause
        case .pause, .abort:
            gate.giveBack(count, for: stream)
            return verdict
        }
    }
}
