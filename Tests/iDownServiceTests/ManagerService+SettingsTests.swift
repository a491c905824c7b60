// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Logging
import Testing
import iDownBus
import iDownData
import iDownSettings
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// What clients may set, of the service and of one task.
@Suite struct ManagerServiceSettingsTests {
    @Test func `properties are stored, announced and held within their range`() async throws {
        try await withService { scene in
            try await scene.client.set(.maxConcurrentDownloads, to: .number(7))
            try await scene.signals.first("PropertiesChanged") { signal in
                signal.member == "PropertiesChanged"
                    && "\(signal.arguments)".contains("MaxConcurrentDownloads")
            }
            #expect(try await scene.client.value(of: .maxConcurrentDownloads) == .number(7))
            try await scene.client.set(.maxConnectionsPerDownload, to: .number(16))
            #expect(try await scene.client.value(of: .maxConnectionsPerDownload) == .number(16))
            #expect(scene.engine.connectionsPerDownload == 16)
            try await scene.client.set(.speedLimit, to: .number(1 << 40))
            #expect(try await scene.client.value(of: .speedLimit) == .number(1 << 40))
            try await scene.client.set(.holdOnMetered, to: .flag(true))
            #expect(try await scene.client.value(of: .holdOnMetered) == .flag(true))
            try await scene.client.set(.holdOnLowBattery, to: .flag(true))
            #expect(try await scene.client.value(of: .holdOnLowBattery) == .flag(true))
            for name in [
                "MaxConnectionsPerDownload", "SpeedLimit", "HoldOnMetered", "HoldOnLowBattery",
            ] {
                try await scene.signals.first("PropertiesChanged") { signal in
                    signal.member == "PropertiesChanged" && "\(signal.arguments)".contains(name)
                }
            }
            let (usual, folder) = (
                try await scene.client.value(of: .downloadDirectory), scene.home.path + "/elsewhere"
            )
            try await scene.client.set(.downloadDirectory, to: .text(folder))
            #expect(try await scene.client.value(of: .downloadDirectory) == .text(folder))
            let stored = SettingsFile(folder: scene.home.config + "/idown").read()
            #expect(stored.settings.maxConcurrentDownloads == 7)
            #expect(stored.settings.maxConnectionsPerDownload == 16)
            #expect(stored.settings.speedLimit == 1 << 40)
            #expect(stored.settings.downloadDirectory == folder)
            try await scene.client.set(.downloadDirectory, to: .text(nil))
            #expect(try await scene.client.value(of: .downloadDirectory) == usual)
            #expect(stored.settings.holdsOnMetered && stored.settings.holdsOnLowBattery)
            for count in [0, 65, .max] as [UInt64] {
                #expect(
                    await code {
                        try await scene.client.set(.maxConcurrentDownloads, to: .number(count))
                    }
                        == .invalidArguments
                )
            }
            for count in [0, 17, .max] as [UInt64] {
                #expect(
                    await code {
                        try await scene.client.set(.maxConnectionsPerDownload, to: .number(count))
                    }
                        == .invalidArguments
                )
            }
            #expect(
                await code { try await scene.client.set(.speedLimit, to: .number(1 << 63)) }
                    == .invalidArguments
            )
            #expect(try await scene.client.value(of: .maxConcurrentDownloads) == .number(7))
            #expect(try await scene.client.value(of: .maxConnectionsPerDownload) == .number(16))
            #expect(try await scene.client.value(of: .speedLimit) == .number(1 << 40))
        }
    }

    @Test func `a settings' value goes over the bus and back`() async throws {
        try await withService { scene in
            let values: [(Setting, Setting.Content)] = [
                (.proxy, .text("")), (.proxy, .text(nil)), (.proxy, .text("http://p:1")),
                (.noProxy, .text(nil)), (.noProxy, .text("a,b")), (.cookieFile, .text("/c")),
                (.notifications, .flag(false)), (.retryFor, .number(60)),
                (.logLevel, .text("debug")), (.keepCompleted, .number(7)),
                (.browserHandOver, .flag(false)), (.browserLeastSize, .number(0)),
                (.browserTypes, .words([".tar.gz", "video/*"])),
                (.browserLeaveHosts, .words(["a.org", "b"])), (.browserLeaveHosts, .words([])),
            ]
            for (setting, content) in values {
                try await scene.client.set(setting, to: content)
                #expect(try await scene.client.value(of: setting) == content)
            }
            let all = try await scene.client.settings()
            #expect(all.map(\.setting) == Setting.allCases)
            for (setting, content) in all where !values.map(\.0).contains(setting) {
                #expect(setting == .downloadDirectory || content == setting.usual)
            }
        }
    }

    @Test func `a value that a setting cannot have is InvalidArgs, and names what it must be`()
        async throws
    {
        let values: [(Setting, Setting.Content)] = [
            (.maxConcurrentDownloads, .number(65)), (.retryFor, .number(1 << 32)),
            (.speedLimit, .number(1 << 63)), (.browserLeastSize, .number(1 << 63)),
            (.noProxy, .text("a\nb")), (.cookieFile, .text("here")),
            (.cookieFile, .text("/" + String(repeating: "x", count: 4095))),
            (.logLevel, .text("loud")), (.logLevel, .text(nil)),
            (.downloadDirectory, .text("here")), (.browserHosts, .words(["a b"])),
            (.browserHosts, .words([""])), (.browserLeaveHosts, .words(["http://a/"])),
            (.browserLeaveHosts, .words(["a:80"])), (.browserHosts, .words(["münchen.de"])),
            (.browserHosts, .words(["a..b"])), (.browserTypes, .words(["video"])),
            (.browserTypes, .words(["*/*"])), (.browserTypes, .words(["a/b/c"])),
            (.browserLeaveTypes, .words(["."])), (.browserLeaveTypes, .words([".a b"])),
            (.browserHosts, .words(Array(repeating: "aaaaaaa.org", count: 1000))),
        ]
        try await withService { scene in
            for (setting, content) in values {
                let error = await #expect(throws: ManagerError.self) {
                    try await scene.client.set(setting, to: content)
                }
                #expect(error?.code == .invalidArguments)
                let form = setting.formMissed(by: content)
                #expect(error?.message == "\(setting.rawValue) must be \(form).")
                #expect(!form.hasPrefix("shorter") || form.contains("1000 entries"))
                if let range = setting.range {
                    let ends = "from \(range.lowerBound) to \(range.upperBound)"
                    #expect(error?.message.contains(ends) == true)
                }
            }
            let folder = scene.home.path
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.set(.cookieFile, to: .text(folder))
            }
            #expect(error?.code == .invalidArguments)
            #expect(error?.message == "CookieFile must be the path of a file, not of a folder.")
        }
    }

    @Test func `what only the user sets is read-only on the bus`() async throws {
        try await withService { scene in
            for setting in Setting.allCases where setting.isReadOnly {
                #expect(
                    await code { try await scene.client.set(setting, to: setting.usual) }
                        == .propertyReadOnly
                )
            }
        }
    }

    @Test func `who sets a property takes nothing back that somebody has written by hand`()
        async throws
    {
        try await withService { scene in
            try await scene.client.set(.speedLimit, to: .number(5))
            let path = scene.home.config + "/idown/settings.json"
            let written = #"{"SpeedLimit": 5, "MaxConcurrentDownloads": 9, "StayAwake": true}"#
            try TestFile.write(written.utf8, to: path)
            try await scene.client.set(.holdOnMetered, to: .flag(true))
            #expect(try await scene.client.value(of: .maxConcurrentDownloads) == .number(9))
            #expect(await scene.coordinator.look { $0.slots.count == 9 })
            try await scene.signals.first("PropertiesChanged") { signal in
                signal.member == "PropertiesChanged"
                    && "\(signal.arguments)".contains("MaxConcurrentDownloads")
            }
            var expected = Settings()
            expected.maxConcurrentDownloads = 9
            expected.speedLimit = 5
            expected.holdsOnMetered = true
            expected.staysAwake = true
            let file = SettingsFile(folder: scene.home.config + "/idown")
            #expect(file.read().settings == expected)

            // What is wrong changes nothing of what is in force.
            try TestFile.write(#"{"SpeedLimit": "fast"}"#.utf8, to: path)
            try await scene.client.set(.holdOnLowBattery, to: .flag(true))
            expected.holdsOnLowBattery = true
            #expect(file.read().settings == expected)
        }
    }

    @Test func `a file that hides the user's proxy is not overwritten, and holds downloads`()
        async throws
    {
        try await withService { scene in
            try await scene.client.set(.speedLimit, to: .number(5))
            let path = scene.home.config + "/idown/settings.json"
            for wrong in [
                "{", #"{"Porxy": "http://127.0.0.1:9"}"#, #"{"Proxy": "b", "StayAwake": 1}"#,
            ] {
                try TestFile.write(wrong.utf8, to: path)
                #expect(
                    await code { try await scene.client.set(.holdOnLowBattery, to: .flag(true)) }
                        == .storeFailed
                )
                #expect(try TestFile.text(of: path) == wrong)
                #expect(try await scene.client.value(of: .speedLimit) == .number(5))
                let reason = await scene.coordinator.look { $0.holds.settings.onSettings }
                #expect(reason?.hasPrefix(path) == true)
            }
            // Downloads go on even if the settings are the same as before the mistake.
            try TestFile.write(#"{"SpeedLimit": 5}"#.utf8, to: path)
            await scene.manager.readSettings()
            #expect(await scene.coordinator.look { $0.holds.settings.onSettings } == nil)
            #expect(try await scene.client.value(of: .speedLimit) == .number(5))
        }
    }

    @Test func `however often a file is wrong, what was read before the first mistake holds`()
        async throws
    {
        try await withService { scene in
            try await scene.client.set(.speedLimit, to: .number(5))
            let path = scene.home.config + "/idown/settings.json"
            #expect(unlink(path) == 0)
            await scene.manager.readSettings()
            #expect(try await scene.client.value(of: .speedLimit) == .number(0))
            for wrong in [#"{"SpeedLimit": -1}"#, "{", #"{"Proxy": 7}"#, "["] {
                try TestFile.write(wrong.utf8, to: path)
                await scene.manager.readSettings()
                #expect(try await scene.client.value(of: .speedLimit) == .number(0), "\(wrong)")
            }
        }
    }

    @Test func `what may be a secret is announced without its value, and a password is not given`()
        async throws
    {
        try await withService { scene in
            let client = scene.client
            try await client.set(.proxy, to: .text("http://me:geheim@p:1"))
            try await client.set(.noProxy, to: .text("intern.example"))
            try await client.set(.cookieFile, to: .text("/geheim.txt"))
            try await client.set(.retryFor, to: .number(61))
            for name in ["Proxy", "NoProxy", "CookieFile"] {
                try await scene.signals.first("PropertiesChanged of \(name)") { signal in
                    signal.member == "PropertiesChanged"
                        && signal.arguments == [
                            .string("org.idown.Settings1"), [String: Value]().busValue,
                            [name].busValue,
                        ]
                }
            }
            try await scene.signals.first("PropertiesChanged") { signal in
                signal.arguments == [
                    .string("org.idown.Settings1"),
                    (["RetryFor": .uint64(61)] as [String: Value]).busValue, [String]().busValue,
                ]
            }
            let told = "\(scene.signals.signals.map(\.arguments))"
            #expect(!told.contains("geheim") && !told.contains("intern.example"))
            #expect(try await client.value(of: .proxy) == .text("http://me:***@p:1"))
            // Who sets what was read keeps the password.
            try await client.set(.proxy, to: .text("http://me:***@p:1"))
            let file = SettingsFile(folder: scene.home.config + "/idown")
            #expect(file.read().settings.proxy == "http://me:geheim@p:1")
            #expect(file.read().settings.retryFor == 61)
            // Whoever changes it otherwise has to give the password, too.
            await #expect(throws: ManagerError.self) {
                try await client.set(.proxy, to: .text("http://me:***@p:2"))
            }
            #expect(file.read().settings.proxy == "http://me:geheim@p:1")
            try await client.set(.proxy, to: .text(nil))
            #expect(file.read().settings.proxy == nil)
        }
    }

    @Test func `many changes at the same time are all kept, and the last one of each wins`()
        async throws
    {
        try await withService { scene in
            let client = scene.client
            try await withThrowingTaskGroup(of: Void.self) { group in
                for setting in [Setting.speedLimit, .retryFor, .keepCompleted] {
                    group.addTask {
                        for number in 1...10 as ClosedRange<UInt64> {
                            try await client.set(setting, to: .number(number))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let file = SettingsFile(folder: scene.home.config + "/idown")
            for setting in [Setting.speedLimit, .retryFor, .keepCompleted] {
                #expect(file.read().settings[setting] == .number(10))
                #expect(try await client.value(of: setting) == .number(10))
            }
        }
    }

    @Test func `of changes at the same time the one that is told last holds`() async throws {
        try await withService { scene in
            let set: [Value] = [.string("org.idown.Manager1"), .string("SpeedLimit")]
            let connection = scene.proxy.connection
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...20 as ClosedRange<UInt64> {
                    group.addTask {
                        _ = try await connection.call(
                            Contract.busName,
                            Contract.managerPath,
                            "org.freedesktop.DBus.Properties",
                            "Set",
                            set + [.variant(.uint64(number))]
                        )
                    }
                }
                try await group.waitForAll()
            }
            // Every value was told once, and the last one told is the one that holds.
            let told = { @Sendable in
                scene.signals.signals.compactMap { signal -> UInt64? in
                    guard signal.member == "PropertiesChanged",
                        case .dictionary(_, _, let entries) = signal.arguments[1],
                        case .variant(.uint64(let number)) = entries.first?.value
                    else { return nil }
                    return number
                }
            }
            let file = SettingsFile(folder: scene.home.config + "/idown")
            let last = file.read().settings.speedLimit
            try await soon("the value in the file to be told last") {
                told().last.map { Int64($0) } == last
            }
            #expect(Set(told()).count == told().count)
        }
    }

    @Test func `a task's limits are stored, announced and held within their range`() async throws {
        try await withService { scene in
            let client = scene.client
            try await client.subscribe()
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

    @Test(arguments: [EMFILE, ENFILE, ENOMEM, EIO, ESTALE])
    func `an error that may pass while the file is read leaves the settings as they are`(
        code: Int32
    ) async throws {
        try await withTemporaryFolder { folder in
            let (path, faults) = (folder + "/settings.json", CallFaults(with: code))
            try TestFile.write(#"{"Proxy": "http://p:1", "SpeedLimit": 5}"#, to: path)
            let file = SettingsFile(folder: folder, faults: faults.next)
            let keeper = SettingsKeeper(file, log: .quiet)
            try TestFile.write(#"{"Proxy": "http://q:1", "SpeedLimit": 5}"#, to: path)
            faults.failNext()
            let then = await keeper.read()
            #expect(then.unread != nil && then.unknownProxy == nil)
            #expect(then.settings.proxy == "http://p:1" && then.settings.speedLimit == 5)
            // A change would not start from the file as it is now.
            faults.failNext()
            let change = await keeper.change(.speedLimit, to: .number(6))
            #expect(change.failure != nil && change.now.settings.speedLimit == 5)
            let now = await keeper.read()
            #expect(now.unread == nil && now.settings.proxy == "http://q:1")
        }
    }

    @Test func `another error while the file is read keeps downloads waiting`() async throws {
        try await withTemporaryFolder { folder in
            try TestFile.write("{}", to: folder + "/settings.json")
            let faults = CallFaults(with: EACCES)
            let file = SettingsFile(folder: folder, faults: faults.next)
            let keeper = SettingsKeeper(file, log: .quiet)
            faults.failNext()
            let now = await keeper.read()
            #expect(now.unread == nil && now.unknownProxy != nil)
        }
    }

    @Test func `a file that could not be read is read again after a while`() async throws {
        let (faults, clocks) = (CallFaults(with: EMFILE), ClocksAhead())
        try await withService(settingsFaults: faults, time: clocks.time) { scene in
            let path = scene.home.config + "/idown/settings.json"
            try await scene.client.set(.maxConcurrentDownloads, to: .number(4))
            try TestFile.write(#"{"MaxConcurrentDownloads": 5}"#, to: path)
            let calls = faults.calls
            faults.failNext()
            let reading = Task { await scene.manager.readSettings() }
            try await soon("the reading that fails") { faults.calls > calls }
            #expect(try await scene.client.value(of: .maxConcurrentDownloads) == .number(4))
            try await soon("the next reading") {
                clocks.pass(.seconds(1))
                return faults.calls > calls + 1
            }
            await reading.value
            #expect(try await scene.client.value(of: .maxConcurrentDownloads) == .number(5))
        }
    }

    @Test(arguments: ["relative", "/.config", "/.config/autostart"])
    func `a DownloadDirectory that is no path, or a forbidden one, is refused`(
        _ folder: String
    ) async throws {
        try await withService { scene in
            let path = folder.hasPrefix("/") ? scene.home.path + folder : folder
            #expect(
                await code { try await scene.client.set(.downloadDirectory, to: .text(path)) }
                    == (folder.hasPrefix("/") ? .invalidDestination : .invalidArguments)
            )
            let kept = try await scene.client.value(of: .downloadDirectory)
            #expect(kept == .text(scene.home.downloads))
        }
    }
}
