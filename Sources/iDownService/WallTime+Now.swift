// SPDX-License-Identifier: Apache-2.0

package import iDownState
import iDownloader

extension WallTime {
    /// The present time of the calendar.
    package static var now: WallTime { TimeAndChance.system.date }
}
