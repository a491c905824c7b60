// SPDX-License-Identifier: Apache-2.0

package import DBus
import Logging
package import iDownBus
package import iDownData
package import iDownSettings
package import iDownState
import iDownloader

extension ManagerService {
    package func value(
        of setting: Setting,
        call: Call
    ) async throws(ManagerError) -> Setting.Content {
        if setting.place == .settings { try await permit(call) }
        return folders.shown(setting, of: settings)
    }

    package func set(
        _ setting: Setting,
        to content: Setting.Content,
        call: Call
    ) async throws(ManagerError) {
        try await permit(call)
        try await change(setting, to: content)
    }

    /// Leaves downloads to the browsers from now on, as the user has asked on the desktop.
    ///
    /// - Parameter host: The host whose downloads are left; nil for all.
    package func leaveToBrowsers(_ host: String?) async {
        do throws(ManagerError) {
            guard let host else { return try await change(.browserHandOver, to: .flag(false)) }
            guard case .words(let hosts) = settings[.browserLeaveHosts], !hosts.contains(host)
            else { return }
            let content = Setting.Content.words(hosts + [host])
            guard Setting.browserLeaveHosts.allows(content) else {
                return log.warning("no setting can name the site that was to be left")
            }
            try await change(.browserLeaveHosts, to: content)
        } catch {
            log.warning("browsers still hand downloads over: \(error)")
        }
    }

    private func change(
        _ setting: Setting,
        to content: Setting.Content
    ) async throws(ManagerError) {
        var content = content
        if setting == .downloadDirectory, case .text(let path?) = content {
            content = .text(try await named { try await engine.prepareFolder(path, rules: rules) })
        }
        changes += 1
        let (now, failure) = await keeper.change(setting, to: content)
        await apply(now)
        changes -= 1
        if changes == 0 {
            changesEnded?.resume()
            changesEnded = nil
        }
        if let failure { try named(Result<Void, any Error>.failure(failure)).get() }
    }

    /// Returns when the changes under way can be answered; later ones are answered `Stopping`.
    ///
    /// Called once, before the service refuses all calls, so that no change is refused that is made.
    package func endChanges() async {
        await keeper.end()
        if changes > 0 { await withCheckedContinuation { changesEnded = $0 } }
    }

    /// Reads the settings file again, and does what it says as if a client had said so.
    ///
    /// If a mistake in the file hides which proxy the user wants, downloads wait.
    package func readSettings() async { await apply(await keeper.read()) }

    /// Takes settings into force, unless newer ones are.
    private func apply(_ now: SettingsKeeper.InForce) async {
        guard now.version > inForce.version else { return }
        let before = settings
        inForce = now
        let changed = Setting.allCases.filter { settings[$0] != before[$0] }
        // The new proxy is known to the engine before downloads that waited for it go on.
        if !changed.isEmpty { settingsChanged(settings) }
        await coordinator.setHoldWishes(holdWishes)
        guard !changed.isEmpty else { return }
        engine.connectionsPerDownload = settings.maxConnectionsPerDownload
        engine.setSpeedLimit(settings.speedLimit)
        engine.usesServerTime = settings.usesServerTime
        if changed.contains(.maxConcurrentDownloads) {
            await coordinator.setSlots(settings.maxConcurrentDownloads)
        }
        if changed.contains(.keepCompleted) {
            await coordinator.keepCompleted(days: settings.keepCompleted)
        }
        await announce(changed.filter { $0.place == .manager }, of: Contract.managerInterface)
        await announce(changed.filter { $0.place == .settings }, of: Contract.settingsInterface)
    }

    private func announce(_ changed: [Setting], of interface: InterfaceName) async {
        guard !changed.isEmpty else { return }
        var values: [String: Value] = [:]
        for setting in changed where !setting.isPrivate {
            values[setting.rawValue] = setting.value(folders.shown(setting, of: settings))
        }
        await announcer.propertiesChanged(
            values,
            invalidated: changed.filter(\.isPrivate).map(\.rawValue),
            of: interface
        )
    }

    /// What downloads wait for.
    var holdWishes: HoldWishes {
        HoldWishes(settings, unknownProxy: inForce.unknownProxy)
    }
}

extension HoldWishes {
    /// What the settings say.
    ///
    /// - Parameters:
    ///   - settings: Those in force.
    ///   - unknownProxy: Why nobody knows which proxy the user wants; nil where it is known.
    package init(_ settings: Settings, unknownProxy: SettingsFailure? = nil) {
        self.init(
            onMetered: settings.holdsOnMetered,
            onLowBattery: settings.holdsOnLowBattery,
            onSettings: unknownProxy?.description
        )
    }
}
