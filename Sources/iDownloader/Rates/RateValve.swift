// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import iDownState

/// Applies the rate limits to one connection.
///
/// libcurl offers a whole piece again if only a part of it was taken. The valve takes as many bytes
/// as the limit allows, pauses the transfer, and skips these bytes when libcurl offers the piece
/// again. So limits are exact to the byte even at 1 kB/s, and may change during a transfer.
final class RateValve: Sendable {
    private let gate: RateGate
    let stream: RateBudget.Stream
    /// The number of bytes at the front of the next piece that have passed already; only the
    /// transfer thread changes it.
    private let gone = Atomic<Int>(0)

    init(_ gate: RateGate, _ stream: RateBudget.Stream) {
        self.gate = gate
        self.stream = stream
    }

    /// Sets the request that is resumed after a pause.
    func connect(_ handle: TransferHandle) { gate.connect(stream) { handle.resume() } }

    /// Ends the valve, because the request is over.
    func disconnect() { gate.disconnect(stream) }

    /// Passes on as many of `bytes` as the limit allows now.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that libcurl offers.
    ///   - store: takes the bytes that may pass; not called if there are none.
    /// - Returns: the verdict for libcurl: `pause` if some bytes may not pass yet, or the verdict
    ///   of `store` if it did not take the bytes.
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
