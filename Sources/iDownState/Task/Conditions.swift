// SPDX-License-Identifier: Apache-2.0

/// What the computer and its network are like at present, whatever the user makes of it.
package struct Conditions: Hashable, Sendable {
    /// False where there is no way to another computer.
    package var isOnline: Bool
    /// Whether a portal answers in place of every host until somebody signs in.
    package var isCaptive: Bool
    /// Whether the network costs by the byte.
    package var isMetered: Bool
    /// Whether the battery is low, or the user saves power.
    package var isBatteryLow: Bool

    package init(
        isOnline: Bool = true,
        isCaptive: Bool = false,
        isMetered: Bool = false,
        isBatteryLow: Bool = false
    ) {
        self.isOnline = isOnline
        self.isCaptive = isCaptive
        self.isMetered = isMetered
        self.isBatteryLow = isBatteryLow
    }
}

/// What the user wants downloads to wait for.
package struct HoldWishes: Hashable, Sendable {
    /// For a network that does not cost by the byte.
    package var onMetered: Bool
    /// For the battery to be charged.
    package var onLowBattery: Bool
    /// What is wrong in the settings file that has to be mended; nil for no wait.
    ///
    /// Downloads wait for this while nobody knows which proxy the user wants.
    package var onSettings: String?

    package init(onMetered: Bool = false, onLowBattery: Bool = false, onSettings: String? = nil) {
        self.onMetered = onMetered
        self.onLowBattery = onLowBattery
        self.onSettings = onSettings
    }
}
