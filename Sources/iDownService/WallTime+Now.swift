// SPDX-License-Identifier: Apache-2.0

package import iDownState
import iDownloader

extension WallTime {
    /// The calendar's time at this moment.
    package static var now: WallTime { TimeAndChance.system.date }
}
