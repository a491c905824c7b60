// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

extension WallTime {
    /// The calendar's time at this moment.
    package static var now: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
