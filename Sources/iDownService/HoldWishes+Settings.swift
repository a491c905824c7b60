// SPDX-License-Identifier: Apache-2.0

package import iDownData
package import iDownSettings
package import iDownState

extension HoldWishes {
    /// What the settings say.
    ///
    /// - Parameters:
    ///   - settings: those in force.
    ///   - unknownProxy: why nobody knows which proxy the user wants; nil where it is known.
    package init(_ settings: Settings, unknownProxy: SettingsFailure? = nil) {
        self.init(
            onMetered: settings.holdsOnMetered,
            onLowBattery: settings.holdsOnLowBattery,
            onSettings: unknownProxy?.description
        )
    }
}
