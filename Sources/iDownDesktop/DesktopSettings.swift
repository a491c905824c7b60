// SPDX-License-Identifier: Apache-2.0

/// What the user has chosen for the desktop.
package struct DesktopSettings: Hashable, Sendable {
    /// Whether notifications are shown.
    package var notifies = true
    /// Whether an idle computer stays awake while something downloads.
    package var staysAwake = false
    /// Whether downloads are to wait while the battery is low or power is saved.
    package var heedsPower = true
    /// What is run for every completed file; see ``CommandTemplate``.
    package var whenDoneCommand: [String]?

    package init() {}
}
