// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

extension Coordinator {
    /// A clock that only goes forward, for speeds.
    static var uptime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
