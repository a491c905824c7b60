// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Times as the user's clock shows them: localtime_r(3), strftime(3).
enum LocalTime {
    /// The local time of µs since the epoch; empty for a time that no calendar has.
    static func text(_ microseconds: UInt64) -> String {
        var seconds = time_t(microseconds / 1_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "" }
        // What everybody reads, where nobody says otherwise.
        let format = UserLocale.hasTimeFormat ? "%x %X" : "%Y-%m-%d %H:%M:%S"
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let text = buffer.baseAddress,
                strftime(text, buffer.count, format, &parts) > 0
            else { return "" }
            return String(cString: text)
        }
    }
}
