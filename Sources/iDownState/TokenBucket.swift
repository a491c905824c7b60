// SPDX-License-Identifier: Apache-2.0

/// Bytes that may go now, filled at a rate: a token bucket.
struct TokenBucket: Sendable {
    /// Bytes a second; 0 for no limit.
    private(set) var limit: Int64
    private var bytes: Double = 0
    private var filledAt: Duration

    /// Starts empty: a limit that is new allows nothing at once.
    init(limit: Int64, at time: Duration) {
        self.limit = max(0, limit)
        filledAt = time
    }

    /// What may go now, in bytes; infinite without a limit.
    var room: Double { limit == 0 ? .infinity : bytes }

    /// Another limit; what was filled by the old one stays.
    mutating func setLimit(_ limit: Int64) {
        self.limit = max(0, limit)
        if limit == 0 { bytes = 0 }
    }

    /// Fills it for the time since the last filling; what it cannot hold flows over.
    mutating func fill(at time: Duration, holding depth: Duration, atLeast least: Int) {
        let elapsed = max(.zero, time - filledAt)
        filledAt = max(filledAt, time)
        bytes += Double(limit) * (elapsed / .seconds(1))
        spill(beyond: depth, atLeast: least)
    }

    /// Lets flow over what is more than the limit fills in `depth`, and more than `least` bytes.
    mutating func spill(beyond depth: Duration, atLeast least: Int) {
        bytes = min(bytes, max(Double(limit) * (depth / .seconds(1)), Double(least)))
    }

    mutating func take(_ count: Int) {
        if limit > 0 { bytes -= Double(count) }
    }

    mutating func giveBack(_ count: Int) {
        if limit > 0 { bytes += Double(count) }
    }
}
