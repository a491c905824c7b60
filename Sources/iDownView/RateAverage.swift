// SPDX-License-Identifier: Apache-2.0

/// A smoothed speed, so that the time left does not jump with every burst.
///
/// It is an average in which each sample counts according to the time since the one before.
package struct RateAverage: Hashable, Sendable {
    /// Seconds after which a new speed counts as much as all earlier ones together.
    ///
    /// Five seconds keep the number calm, and still show a change of network soon.
    package static let halfTime = 5.0

    private var average: Double?
    private var lastTime = 0.0

    package init() {}

    /// Adds a measured speed.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The speed.
    ///   - time: Seconds on any clock that only goes forward.
    package mutating func add(_ bytesPerSecond: UInt64, at time: Double) {
        let sample = Double(bytesPerSecond)
        defer { lastTime = time }
        guard let old = average else {
            // The wait for the first byte says nothing about the speed.
            average = sample > 0 ? sample : nil
            return
        }
        // The weight grows from 0 to 1 and is 1/2 after ``halfTime``. An exponential function would
        // need the C library.
        let elapsed = max(0, time - lastTime)
        let weight = elapsed / (elapsed + Self.halfTime)
        average = old + (sample - old) * weight
    }

    /// Forgets all samples, for a task that no longer transfers.
    package mutating func reset() { average = nil }

    /// The smoothed speed in bytes per second; 0 before the first sample.
    package var bytesPerSecond: UInt64 { UInt64(exactly: (average ?? 0).rounded()) ?? 0 }
}
