// SPDX-License-Identifier: Apache-2.0

/// A speed smoothed for the time left, so that it does not jump with every burst.
///
/// An average in which each sample counts for the time that it stands for.
package struct RateAverage: Hashable, Sendable {
    /// Seconds after which a new speed counts as much as all before it.
    ///
    /// Long enough for a calm number, short enough to notice a change of network.
    package static let memory = 5.0

    private var average: Double?
    private var lastTime = 0.0

    package init() {}

    /// Takes a measured speed.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The speed.
    ///   - time: Seconds on any clock that only goes forward.
    package mutating func add(_ bytesPerSecond: UInt64, at time: Double) {
        let sample = Double(bytesPerSecond)
        defer { lastTime = time }
        guard let old = average else {
            // The silence before the first byte says nothing of the speed.
            average = sample > 0 ? sample : nil
            return
        }
        // Between 0 and 1, and a half after ``memory``: an exponential would need the C library.
        let elapsed = max(0, time - lastTime)
        let weight = elapsed / (elapsed + Self.memory)
        average = old + (sample - old) * weight
    }

    /// Starts anew, when a task stands still.
    package mutating func reset() {
        average = nil
    }

    /// Bytes per second; 0 before the first sample.
    package var bytesPerSecond: UInt64 {
        UInt64(exactly: (average ?? 0).rounded()) ?? 0
    }
}
