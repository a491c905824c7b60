// SPDX-License-Identifier: Apache-2.0

import DBus
import Logging
import iDownBus
import iDownData
import iDownState
import iDownloader

// The settings file, which people may edit while the service runs.
extension ManagerService {
    /// Reads the file again, and does what it says now as if a client had said so.
    ///
    /// As long as anything in it is wrong the settings in force stay.
    package func readSettings() async {
        let (read, trouble) = file.read()
        if let trouble {
            log.error("the settings in force stay: \(trouble)")
            return
        }
        let before = settings
        guard read != before else { return }
        settings = read
        log.notice("the settings file has changed")
        await act(onChangeFrom: before)
        settingsChanged(settings)
        await announcer.propertiesChanged(properties(changedFrom: before))
    }

    private func act(onChangeFrom before: Settings) async {
        engine.connectionsPerDownload = settings.maxConnectionsPerDownload
        engine.setSpeedLimit(settings.speedLimit)
        if before.maxConcurrentDownloads != settings.maxConcurrentDownloads {
            await coordinator.setSlots(settings.maxConcurrentDownloads)
        }
        if HoldWishes(before) != HoldWishes(settings) {
            await coordinator.setHoldWishes(HoldWishes(settings))
        }
        if before.keepCompleted != settings.keepCompleted {
            await coordinator.keepCompleted(days: settings.keepCompleted)
        }
    }

    private func properties(changedFrom before: Settings) -> [String: Value] {
        let (old, new) = (values(of: before), values(of: settings))
        return new.filter { old[$0.key] != $0.value }
    }

    /// The properties that show settings, as they tell them.
    private func values(of settings: Settings) -> [String: Value] {
        let values: [MemberName: Value] = [
            Contract.Property.maxConcurrentDownloads:
                .uint32(UInt32(clamping: settings.maxConcurrentDownloads)),
            Contract.Property.maxConnectionsPerDownload:
                .uint32(UInt32(clamping: settings.maxConnectionsPerDownload)),
            Contract.Property.speedLimit: .uint64(UInt64(clamping: settings.speedLimit)),
            Contract.Property.downloadDirectory:
                .string(settings.downloadDirectory ?? folders.download),
            Contract.Property.holdOnMetered: .boolean(settings.holdsOnMetered),
            Contract.Property.holdOnLowBattery: .boolean(settings.holdsOnLowBattery),
            Contract.Property.keepCompleted: .uint32(UInt32(clamping: settings.keepCompleted)),
        ]
        return Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
    }
}
