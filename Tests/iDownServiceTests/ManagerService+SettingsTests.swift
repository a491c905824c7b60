// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownData
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// What clients may set, of the service and of one task.
@Suite struct ManagerServiceSettingsTests {
    @Test func `properties are stored, announced and held within their range`() async throws {
        try await withService { scene in
            try await scene.client.setMaxConcurrentDownloads(7)
            try await scene.signals.first("PropertiesChanged") { signal in
                signal.member == "PropertiesChanged"
                    && "\(signal.arguments)".contains("MaxConcurrentDownloads")
            }
            #expect(try await scene.client.maxConcurrentDownloads() == 7)
            try await scene.client.setMaxConnectionsPerDownload(16)
            #expect(try await scene.client.maxConnectionsPerDownload() == 16)
            #expect(scene.engine.connectionsPerDownload == 16)
            try await scene.client.setSpeedLimit(1 << 40)
            #expect(try await scene.client.speedLimit() == 1 << 40)
            try await scene.client.setHoldOnMetered(true)
            #expect(try await scene.client.holdOnMetered())
            try await scene.client.setHoldOnLowBattery(true)
            #expect(try await scene.client.holdOnLowBattery())
            for name in [
                "MaxConnectionsPerDownload", "SpeedLimit", "HoldOnMetered", "HoldOnLowBattery",
            ] {
                try await scene.signals.first("PropertiesChanged") { signal in
                    signal.member == "PropertiesChanged" && "\(signal.arguments)".contains(name)
                }
            }
            let folder = scene.home.path + "/elsewhere"
            try await scene.client.setDownloadDirectory(folder)
            #expect(try await scene.client.downloadDirectory() == folder)
            let stored = SettingsFile(folder: scene.home.config + "/idown").read()
            #expect(stored.settings.maxConcurrentDownloads == 7)
            #expect(stored.settings.maxConnectionsPerDownload == 16)
            #expect(stored.settings.speedLimit == 1 << 40)
            #expect(stored.settings.downloadDirectory == folder)
            #expect(stored.settings.holdsOnMetered && stored.settings.holdsOnLowBattery)
            for count in [0, 65, .max] as [UInt32] {
                #expect(
                    await code { try await scene.client.setMaxConcurrentDownloads(count) }
                        == .invalidArguments
                )
            }
            for count in [0, 17, .max] as [UInt32] {
                #expect(
                    await code { try await scene.client.setMaxConnectionsPerDownload(count) }
                        == .invalidArguments
                )
            }
            #expect(
                await code { try await scene.client.setSpeedLimit(1 << 63) } == .invalidArguments
            )
            #expect(try await scene.client.maxConcurrentDownloads() == 7)
            #expect(try await scene.client.maxConnectionsPerDownload() == 16)
            #expect(try await scene.client.speedLimit() == 1 << 40)
        }
    }

    @Test func `who sets a property takes nothing back that somebody has written by hand`()
        async throws
    {
        try await withService { scene in
            try await scene.client.setSpeedLimit(5)
            let path = scene.home.config + "/idown/settings.json"
            let written = #"{"SpeedLimit": 5, "MaxConcurrentDownloads": 9, "StayAwake": true}"#
            try TestFile.write(written.utf8, to: path)
            try await scene.client.setHoldOnMetered(true)
            #expect(try await scene.client.maxConcurrentDownloads() == 9)
            #expect(await scene.coordinator.look { $0.slots.count == 9 })
            try await scene.signals.first("PropertiesChanged") { signal in
                signal.member == "PropertiesChanged"
                    && "\(signal.arguments)".contains("MaxConcurrentDownloads")
            }
            var expected = Settings(maxConcurrentDownloads: 9, speedLimit: 5)
            expected.holdsOnMetered = true
            expected.staysAwake = true
            let file = SettingsFile(folder: scene.home.config + "/idown")
            #expect(file.read().settings == expected)

            // What is wrong changes nothing of what is in force.
            try TestFile.write(#"{"SpeedLimit": "fast"}"#.utf8, to: path)
            try await scene.client.setHoldOnLowBattery(true)
            expected.holdsOnLowBattery = true
            #expect(file.read().settings == expected)
        }
    }

    @Test func `a file that hides the user's proxy is not overwritten, and holds downloads`()
        async throws
    {
        try await withService { scene in
            try await scene.client.setSpeedLimit(5)
            let path = scene.home.config + "/idown/settings.json"
            for wrong in [
                "{", #"{"Porxy": "http://127.0.0.1:9"}"#, #"{"Proxy": "b", "StayAwake": 1}"#,
            ] {
                try TestFile.write(wrong.utf8, to: path)
                #expect(
                    await code { try await scene.client.setHoldOnLowBattery(true) } == .storeFailed
                )
                #expect(try TestFile.text(of: path) == wrong)
                #expect(try await scene.client.speedLimit() == 5)
                let reason = await scene.coordinator.look { $0.holds.wishes.onSettings }
                #expect(reason?.hasPrefix(path) == true)
            }
            // Downloads go on even if the settings are the same as before the mistake.
            try TestFile.write(#"{"SpeedLimit": 5}"#.utf8, to: path)
            await scene.manager.readSettings()
            #expect(await scene.coordinator.look { $0.holds.wishes.onSettings } == nil)
            #expect(try await scene.client.speedLimit() == 5)
        }
    }

    @Test func `a task's limits are stored, announced and held within their range`() async throws {
        try await withService { scene in
            let client = scene.client
            var options = AddOptions()
            options.paused = true
            options.connections = 4
            let id = try await client.addURL("http://127.0.0.1:9/", options: options)
            #expect(try await client.getTask(id).maxConnections == 4)
            try await client.setMaxConnections(16, of: id)
            #expect(try await client.getTask(id).maxConnections == 16)
            try await client.setSpeedLimit(1 << 40, of: id)
            #expect(try await client.getTask(id).speedLimit == 1 << 40)
            for name in ["MaxConnections", "SpeedLimit"] {
                try await scene.signals.first("PropertiesChanged") { signal in
                    signal.member == "PropertiesChanged" && "\(signal.arguments)".contains(name)
                        && "\(signal.arguments)".contains("org.idown.Task1")
                }
            }
            for count in [17, .max] as [UInt32] {
                #expect(
                    await code { try await client.setMaxConnections(count, of: id) }
                        == .invalidArguments
                )
            }
            #expect(
                await code { try await client.setSpeedLimit(1 << 63, of: id) } == .invalidArguments
            )
            #expect(try await client.getTask(id).maxConnections == 16)
            try await client.setMaxConnections(0, of: id)
            #expect(try await client.getTask(id).maxConnections == 0)
            for unknown in ["99", "x", ""] {
                #expect(
                    await code { try await client.setMaxConnections(1, of: unknown) } == .noSuchTask
                )
                #expect(
                    await code { try await client.setSpeedLimit(1, of: unknown) } == .noSuchTask
                )
            }
            scene.faults.failNext()
            #expect(
                await code { try await client.setMaxConnections(3, of: id) } == .storeFailed
            )
            #expect(try await client.getTask(id).maxConnections == 0)
        }
    }

    @Test(arguments: ["relative", "", "/.config", "/.config/autostart"])
    func `a DownloadDirectory that is no path, or a forbidden one, is refused`(
        _ folder: String
    ) async throws {
        try await withService { scene in
            let path = folder.hasPrefix("/") ? scene.home.path + folder : folder
            #expect(
                await code { try await scene.client.setDownloadDirectory(path) }
                    == (folder.hasPrefix("/") ? .invalidDestination : .invalidArguments)
            )
            let kept = try await scene.client.downloadDirectory()
            #expect(kept == scene.home.downloads)
        }
    }
}
