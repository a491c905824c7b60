// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
package import iDownData
package import iDownSettings
package import iDownState
package import iDownloader

/// Puts changed settings into force, and tells clients.
final class SettingsControl {
    private let keeper: SettingsKeeper
    private let changed: @Sendable (Settings) -> Void
    /// The settings that were last put into force.
    private var inForce: SettingsKeeper.InForce

    /// - Parameters:
    ///   - keeper: keeps the settings.
    ///   - changed: called with the settings each time that they change.
    init(_ keeper: SettingsKeeper, changed: @escaping @Sendable (Settings) -> Void) {
        self.keeper = keeper
        self.changed = changed
        inForce = keeper.now
    }

    var settings: Settings { inForce.settings }

    /// Changes a setting; the change is durable and told on return.
    ///
    /// - Throws: `InvalidDestination` for a folder that is not allowed; `StoreFailed`.
    func change(
        _ setting: Setting,
        to content: Setting.Content,
        in service: isolated ManagerService
    ) async throws {
        var content = content
        if case .text(let text?) = content,
            let form = await Self.missedForm(of: setting, text, service.engine)
        {
            throw ManagerError(.invalidArguments, "\(setting.rawValue) must be \(form).")
        }
        if setting == .downloadDirectory, case .text(let path?) = content {
            do throws(FolderRefusal) {
                let folders = service.engine.folders
                content = .text(try await folders.prepare(path, rules: service.rules))
            } catch {
                throw error.naming(path)
            }
        }
        let (now, failure) = await keeper.change(setting, to: content)
        await apply(now, in: service)
        if let failure { throw failure }
    }

    /// Returns what a client's text should be and is not; nil for a text that is right.
    ///
    /// In the file such a text stays as it is written, and no download bypasses the proxy.
    private static func missedForm(
        of setting: Setting,
        _ text: String,
        _ engine: Engine
    ) async -> String? {
        switch setting {
        case .proxy where !Engine.isProxy(text): setting.form
        case .noProxy where !HeaderRules.isFieldValue(text): setting.form
        case .cookieFile:
            await engine.look(in: text) { await engine.isFolder(text) } == true
                ? "the path of a file, not of a folder" : nil
        default: nil
        }
    }

    /// Waits until the changes under way are durable; later ones are answered `Stopping`.
    func end() async { await keeper.end() }

    /// Whether an error that may pass kept the file from being read.
    var isUnread: Bool { inForce.unread != nil }

    /// Reads the file again, and applies it like changes by a client.
    ///
    /// Returns once the file is read: after an error that may pass, it is read again.
    func read(in service: isolated ManagerService) async {
        let (time, pause) = (service.coordinator.time, Coordinator.storeRetryInterval)
        repeat {
            await apply(await keeper.read(), in: service)
            guard isUnread else { return }
        } while (try? await time.sleep(for: pause)) != nil
    }

    /// Reads the user's folders again, and tells clients if downloads go elsewhere now.
    func readFolders(in service: isolated ManagerService) async {
        let (before, folders) = (service.directory, await keeper.readFolders())
        service.folders = folders
        if service.directory != before {
            await announce([.downloadDirectory], of: .manager, in: service)
        }
    }

    /// Puts settings into force, unless newer ones already are.
    private func apply(_ now: SettingsKeeper.InForce, in service: isolated ManagerService) async {
        guard now.version > inForce.version else { return }
        let before = settings
        inForce = now
        let changed = Setting.allCases.filter { settings[$0] != before[$0] }
        // The engine has to know the new proxy before downloads that waited for it go on.
        if !changed.isEmpty { self.changed(settings) }
        let (engine, coordinator) = (service.engine, service.coordinator)
        await coordinator.setHoldSettings(
            HoldSettings(settings, engine.network, unknownProxy: inForce.unknownProxy)
        )
        guard !changed.isEmpty else { return }
        engine.apply(settings)
        if changed.contains(.maxConcurrentDownloads) {
            await coordinator.setSlots(settings.maxConcurrentDownloads)
        }
        if changed.contains(.keepCompleted) {
            await coordinator.keepCompleted(days: settings.keepCompleted)
        }
        await announce(changed, of: .manager, in: service)
        await announce(changed, of: .settings, in: service)
    }

    private func announce(
        _ changed: [Setting],
        of place: Setting.Place,
        in service: isolated ManagerService
    ) async {
        let changed = changed.filter { $0.place == place }
        guard !changed.isEmpty else { return }
        var values: [String: Value] = [:]
        for setting in changed where !setting.isPrivate {
            values[setting.rawValue] = setting.value(service.folders.shown(setting, of: settings))
        }
        await service.announcer.propertiesChanged(
            values,
            invalidated: changed.filter(\.isPrivate).map(\.rawValue),
            of: place == .manager ? Contract.managerInterface : Contract.settingsInterface
        )
    }
}

extension Engine {
    /// Puts the settings that concern transfers into force.
    package func apply(_ settings: Settings) {
        connectionsPerDownload = settings.maxConnectionsPerDownload
        setSpeedLimit(settings.speedLimit)
        usesServerTime = settings.usesServerTime
    }
}

extension HoldSettings {
    /// Takes what tasks have to wait for from the settings.
    ///
    /// - Parameters:
    ///   - settings: The settings in force.
    ///   - network: The engine's network under these settings.
    ///   - unknownProxy: Why it is unknown which proxy the user wants; nil where it is known.
    package init(
        _ settings: Settings,
        _ network: NetworkConfiguration,
        unknownProxy: SettingsFailure? = nil
    ) {
        self.init(
            onMetered: settings.holdsOnMetered,
            onLowBattery: settings.holdsOnLowBattery,
            onPortal: !network.hasWebProxy,
            onSettings: unknownProxy?.description
        )
    }
}
