// SPDX-License-Identifier: Apache-2.0

/// Bytes per second for people: `1.5 MiB/s`.
package struct ByteRate: Hashable, Sendable, CustomStringConvertible {
    package let bytesPerSecond: UInt64

    package init(_ bytesPerSecond: UInt64) {
        self.bytesPerSecond = bytesPerSecond
    }

    package var description: String {
        "\(ByteCount(bytesPerSecond))/s"
    }
}
