// SPDX-License-Identifier: Apache-2.0

/// A token bucket: bytes that may be sent now, filled at a rate.
struct TokenBucket: Sendable {
    /// Bytes a second; 0 for no limit.
    private(set) var limit: Int64
    private var bytes: Double = 0
    private var filledAt: Duration

    /// Starts empty, so that a new limit allows nothing immediately.
    init(limit: Int64, at time: Duration) {
        self.limit = max(0, limit)
        filledAt = time
    }

    /// The bytes that may be taken now; infinite without a limit.
    var room: Double { limit == 0 ? .infinity : bytes }

    /// Changes the limit; bytes that were filled at the old one stay.
    mutating func setLimit(_ limit: Int64) {
        self.limit = max(0, limit)
        if limit == 0 { bytes = 0 }
    }

    /// Adds the bytes for the time since the last call, and drops those that do not fit.
    mutating func fill(at time: Duration, holding depth: Duration, atLeast least: Int) {
        let elapsed = max(.zero, time - filledAt)
        filledAt = max(filledAt, time)
        bytes += Double(limit) * (elapsed / .seconds(1))
        spill(beyond: depth, atLeast: least)
    }

    /// Drops bytes beyond what the limit fills in `depth`, but keeps at least `least` bytes.
    mutating func spill(beyond depth: Duration, atLeast least: Int) {
        bytes = min(bytes, max(Double(limit) * (depth / .seconds(1)), Double(least)))
    }

    /// Takes bytes; a negative count gives them back.
    mutating func take(_ count: Int) {
        if limit > 0 { bytes -= Double(count) }
    }
}
