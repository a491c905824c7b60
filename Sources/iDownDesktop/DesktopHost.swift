// SPDX-License-Identifier: Apache-2.0

/// What the desktop's services say of the computer; where there are none, of nothing amiss.
package struct DesktopConditions: Hashable, Sendable {
    /// A portal answers in place of every host until somebody signs in.
    package var isCaptive = false
    /// The network costs by the byte.
    package var isMetered = false
    /// The battery is low, or the user saves power.
    package var isBatteryLow = false

    package init() {}
}

/// What the user can ask for on the desktop.
package enum DesktopVerb: String, Hashable, Sendable {
    case pause, resume, retry, cancel
}

/// The service, as the desktop sees it.
package protocol DesktopHost: Sendable {
    func conditionsChanged(_ conditions: DesktopConditions) async
    /// The computer sleeps once this returns; a few seconds at the latest.
    func willSleep() async
    /// May come without a sleep before it.
    func didWake() async
    /// Carries out what the user has asked for; what cannot be is nothing to tell.
    func carryOut(_ verb: DesktopVerb, on ids: [String]) async
    /// Pauses all that is under way, or starts all that is paused or has failed.
    func carryOutOnAll(_ verb: DesktopVerb) async
    /// How the list stands.
    func summary() async -> DesktopSummary
}
