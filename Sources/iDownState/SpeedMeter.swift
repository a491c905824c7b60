// SPDX-License-Identifier: Apache-2.0

/// Bytes a second over the last half second or more.
package struct SpeedMeter: Sendable {
    /// Short enough to follow, long enough not to flicker.
    package static let window: Duration = .milliseconds(500)

    private var markBytes: Int64
    private var mark: Duration
    package private(set) var bytesPerSecond: UInt64 = 0

    /// - Parameters:
    ///   - bytes: the bytes received so far.
    ///   - time: any clock's reading that only goes forward.
    package init(bytes: Int64, at time: Duration) {
        markBytes = bytes
        mark = time
    }

    /// Takes a reading; the speed is renewed once the window is full.
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
