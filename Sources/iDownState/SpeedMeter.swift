// SPDX-License-Identifier: Apache-2.0

/// Measures bytes a second, over the last half second or more.
package struct SpeedMeter: Sendable {
    /// Short enough to follow changes, long enough not to flicker.
    package static let window: Duration = .milliseconds(500)

    private var markBytes: Int64
    private var mark: Duration
    package private(set) var bytesPerSecond: UInt64 = 0

    /// - Parameters:
    ///   - bytes: the bytes received so far.
    ///   - time: a reading of a clock that only goes forward.
    package init(bytes: Int64, at time: Duration) {
        markBytes = bytes
        mark = time
    }

    /// Adds a reading; the speed changes once the window is full.
    package mutating func read(bytes: Int64, at time: Duration) {
        let elapsed = time - mark
        guard elapsed >= Self.window else { return }
        let gained = max(0, bytes - markBytes)
        let seconds = elapsed / .seconds(1)
        bytesPerSecond = UInt64(exactly: (Double(gained) / seconds).rounded()) ?? 0
        markBytes = bytes
        mark = time
    }
}
