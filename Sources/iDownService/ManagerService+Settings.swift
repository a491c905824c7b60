// SPDX-License-Identifier: Apache-2.0

import DBus
package import Logging
import iDownBus
package import iDownData
import iDownState
import iDownloader

// The settings file, which people may edit while the service runs.
extension ManagerService {
    /// Reads the file again, and does what it says now as if a client had said so.
    ///
    /// As long as anything in it is wrong the last good settings stay in force. If it also hides
    /// which proxy the user wants, downloads wait.
    package func readSettings() async {
        let reading = file.read(lastGood: unknownProxy == nil ? settings : nil)
        file.settle(reading, log: log)
        let before = settings
        if unknownProxy != nil, reading.failure == nil {
            log.notice("the settings file is mended, and downloads go on")
        }
        settings = reading.settings
        unknownProxy = reading.unknownProxy
        guard settings != before else { return await coordinator.setHoldWishes(holdWishes) }
        log.notice("the settings file has changed")
        // The new proxy is known to the engine before downloads that waited for it go on.
        settingsChanged(settings)
        await act(onChangeFrom: before)
        await announcer.propertiesChanged(properties(changedFrom: before))
    }

    /// What downloads wait for.
    var holdWishes: HoldWishes { HoldWishes(settings, unknownProxy: unknownProxy) }

    private func act(onChangeFrom before: Settings) async {
        await coordinator.setHoldWishes(holdWishes)
        engine.connectionsPerDownload = settings.maxConnectionsPerDownload
        engine.setSpeedLimit(settings.speedLimit)
        engine.usesServerTime = settings.usesServerTime
        if before.maxConcurrentDownloads != settings.maxConcurrentDownloads {
            await coordinator.setSlots(settings.maxConcurrentDownloads)
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

extension SettingsFile {
    /// Logs what is wrong in the file, and keeps good settings as the last good ones.
    package func settle(_ reading: SettingsReading, log: Logger) {
        for note in reading.notes { log.warning("\(path): \(note); it has no effect") }
        if let failure = reading.unknownProxy {
            log.error("downloads wait until the settings file is mended: \(failure)")
        } else if let failure = reading.failure {
            log.error("the last good settings stay in force: \(failure)")
        }
        do {
            try keep(reading)
        } catch {
            log.warning("the last good settings could not be kept: \(error)")
        }
    }
}
