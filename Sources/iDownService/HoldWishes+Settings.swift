// SPDX-License-Identifier: Apache-2.0

package import iDownData
package import iDownState

extension HoldWishes {
    /// What the settings say.
    package init(_ settings: Settings) {
        self.init(onMetered: settings.holdsOnMetered, onLowBattery: settings.holdsOnLowBattery)
    }
}
