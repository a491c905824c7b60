// SPDX-License-Identifier: Apache-2.0

/// The state of the computer and its network, regardless of the user's wishes.
package struct Conditions: Hashable, Sendable {
    /// Whether there is a route to other computers.
    package var isOnline = true
    /// Whether a captive portal answers in place of every host until the user signs in.
    package var isCaptive = false
    /// Whether the network is metered.
    package var isMetered = false
    /// Whether the battery is low, or the user saves power.
    package var isBatteryLow = false
}

extension Conditions {
    /// Makes conditions under which nothing else keeps a task from starting.
    package init(isOnline: Bool) { self.init(isOnline: isOnline, isCaptive: false) }
}

/// What the user wants downloads to wait for.
package struct HoldSettings: Hashable, Sendable {
    /// Whether to wait for a network that is not metered.
    package var onMetered: Bool
    /// Whether to wait until the battery is charged.
    package var onLowBattery: Bool
    /// Whether to wait until somebody has signed in at a captive portal.
    ///
    /// Not where a proxy serves the web: no portal answers in its place, and the networks of firms
    /// that let only their proxy out look like a portal.
    package var onPortal: Bool
    /// What has to be mended in the settings file before downloads go on; nil where nothing has to.
    ///
    /// Downloads wait because the proxy that the user wants is unknown meanwhile.
    package var onSettings: String?

    package init(
        onMetered: Bool = false,
        onLowBattery: Bool = false,
        onPortal: Bool = true,
        onSettings: String? = nil
    ) {
        self.onMetered = onMetered
        self.onLowBattery = onLowBattery
        self.onPortal = onPortal
        self.onSettings = onSettings
    }
}
