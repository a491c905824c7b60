// SPDX-License-Identifier: Apache-2.0

import DBus
import Synchronization
import Testing
import iDownSettings
import iDownState
import iDownTesting

@testable import iDownDesktop

/// Notifications, shown by dbusmock's server or by one that a test plays.
@Suite(.timeLimit(.minutes(2))) struct NotifierTests {
    @Test func `a completed file is notified, and a click shows it in its folder`() async throws {
        try await withDesktop { scene in
            let log = try await FakeFileManager.serve(on: scene.connection)
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                try await scene.ready()
                scene.complete("7", "/home/me/Downloads/a <b>.iso")
                let call = try #require(try await mock.waitForCalls(of: "Notify").first)
                #expect(call[0] == .string("idown"))
                #expect(call[1] == .uint32(0))
                #expect(call[3] == .string("Download completed"))
                #expect(call[4] == .string("a &lt;b&gt;.iso"))
                let hints = try [String: Value](busValue: call[6])
                #expect(hints["desktop-entry"] == .string("org.idown.Manager1"))
                #expect(hints["category"] == .string("transfer.complete"))
                try await mock.emit("ActivationToken", "us", [.uint32(1), .string("tok")])
                try await mock.emit("ActionInvoked", "us", [.uint32(1), .string("reveal")])
                try await log.wait(for: "ShowItems file:///home/me/Downloads/a%20%3Cb%3E.iso tok")
            }
        }
    }

    @Test func `files that finish together share a notification, which the next one replaces`()
        async throws
    {
        try await withDesktop { scene in
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                try await scene.ready()
                for number in 1...100 { scene.complete("\(number)", "/d/file\(number)") }
                let first = try #require(try await mock.waitForCalls(of: "Notify").first)
                scene.complete("101", "/d/last")
                try await soon("the log of three files") {
                    try await mock.calls(of: "Notify").last?[3]
                        == .string("101 downloads completed")
                }
                // A hundred files must not cause a hundred notifications.
                #expect(try await mock.calls(of: "Notify").count < 10)
                #expect(first[1] == .uint32(0))
                for call in try await mock.calls(of: "Notify").dropFirst() {
                    #expect(call[1] == .uint32(1))
                }
            }
        }
    }

    @Test func `starting the program shows a summary with buttons`() async throws {
        try await withDesktop { scene in
            let log = try await FakeFileManager.serve(on: scene.connection)
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                scene.feed.changed(.sample("1", .downloading, name: "a <b>", bytes: 1, total: 4))
                scene.feed.activated()
                let call = try #require(try await mock.waitForCalls(of: "Notify").first)
                #expect(call[1] == .uint32(0))
                #expect(call[3] == .string("3 downloading, 2 paused"))
                #expect(call[4] == .string("a &lt;b&gt;: 25%\nand 2 more"))
                let actions = try [String](busValue: call[5])
                #expect(actions.contains("pause-all") && actions.contains("start-all"))
                #expect(actions.contains("list") == !FilePresenter.listCommands().isEmpty)
                try await mock.emit("ActionInvoked", "us", [.uint32(1), .string("pause-all")])
                try await scene.host.wait(for: "pause all")
                try await mock.emit("ActionInvoked", "us", [.uint32(1), .string("folder")])
                try await log.wait(for: "ShowFolders file:///etc ")
                scene.feed.activated()
                try await soon("the second summary to replace the first") {
                    try await mock.calls(of: "Notify").last?[1] == .uint32(1)
                }
            }
        }
    }

    @Test func `the first download of a browser can be refused for its site and for all`()
        async throws
    {
        for (key, asked) in [("leave-site", "leave example.org"), ("leave-all", "leave all")] {
            try await withDesktop { scene in
                try await scene.bus.withNotificationServer(scene.connection) { mock in
                    scene.feed.introduce(.sample("1", .downloading))
                    let call = try #require(try await mock.waitForCalls(of: "Notify").first)
                    #expect(call[3] == .string("Download taken over from your browser"))
                    #expect(try [String](busValue: call[5]).contains(key))
                    try await mock.emit("ActionInvoked", "us", [.uint32(1), .string(key)])
                    try await scene.host.wait(for: asked)
                }
            }
        }
    }

    @Test func `a fresh link is asked about, and goes on only by the user's word`() async throws {
        try await withDesktop { scene in
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                scene.feed.askToContinue(.sample("1", .paused), with: .sample("2", .downloading))
                let call = try #require(try await mock.waitForCalls(of: "Notify").first)
                #expect(call[3] == .string("Continue file.iso with this link?"))
                #expect(
                    try [String](busValue: call[5])
                        == ["continue", "Continue", "new", "New Download"]
                )
                try await mock.emit("ActionInvoked", "us", [.uint32(1), .string("new")])
                // Answered: a second answer is none.
                try await mock.emit("ActionInvoked", "us", [.uint32(1), .string("continue")])
                scene.feed.askToContinue(.sample("3", .paused), with: .sample("4", .downloading))
                try await soon("a second question") {
                    try await mock.calls(of: "Notify").count == 2
                }
                // A question never takes the place of another, whose answer may be on its way.
                scene.feed.askToContinue(.sample("5", .paused), with: .sample("6", .downloading))
                try await soon("a third question") { try await mock.calls(of: "Notify").count == 3 }
                #expect(try await mock.calls(of: "Notify").allSatisfy { $0[1] == .uint32(0) })
                try await mock.emit("ActionInvoked", "us", [.uint32(2), .string("continue")])
                try await mock.emit("ActionInvoked", "us", [.uint32(3), .string("continue")])
                try await scene.host.wait(for: "continue 5 with 6")
                #expect(scene.host.all.filter { $0.hasPrefix("continue") } == ["continue 5 with 6"])
            }
        }
    }

    @Test func `a question is closed once one of both is finished`() async throws {
        try await withDesktop { scene in
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                scene.feed.askToContinue(.sample("1", .paused), with: .sample("2", .downloading))
                try await mock.waitForCalls(of: "Notify")
                scene.complete("2", "/d/file.iso")
                try await soon("the question to be closed") {
                    // The mock declares a signed number, the specification an unsigned one.
                    try await mock.calls(of: "CloseNotification").first == [.int32(1)]
                }
            }
        }
    }

    @Test func `starting the program shows the window where there is one`() async throws {
        try await withDesktop { scene in
            let log = CallLog()
            let window = Interface(
                "org.freedesktop.Application",
                [
                    .method("Activate", in: ["platform_data"]) {
                        (_: Call, data: [String: Value]) in
                        let tokens = data.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                        log.keep("Activate \(tokens.joined(separator: ", "))")
                    }
                ]
            )
            try await scene.connection.export([window], at: "/org/idown/Window")
            _ = try await scene.connection.requestName("org.idown.Window")
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                scene.feed.activated(token: "t")
                let token = Value.string("t")
                try await log.wait(
                    for: "Activate activation-token \(token), desktop-startup-id \(token)"
                )
                #expect(try await mock.calls(of: "Notify").isEmpty)
            }
        }
    }

    @Test func `starting the program with notifications off opens the folder`() async throws {
        var settings = Settings.watchingPower
        settings.notifies = false
        try await withDesktop(settings: settings) { scene in
            let log = try await FakeFileManager.serve(on: scene.connection)
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                scene.feed.activated()
                try await log.wait(for: "ShowFolders file:///etc ")
                #expect(try await mock.calls(of: "Notify").isEmpty)
            }
        }
    }

    @Test func `notifications can be turned off and on while the service runs`() async throws {
        try await withDesktop { scene in
            let log = try await FakeFileManager.serve(on: scene.connection)
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                try await scene.ready()
                var settings = Settings.watchingPower
                settings.notifies = false
                scene.desktop.apply(settings)
                try await soon("notifications to stop") {
                    let before = try await mock.calls(of: "Notify").count
                    let mark = log.all.count
                    scene.complete("1", "/d/a", whenDone: .reveal)
                    try await soon("the file to be shown") { log.all.count > mark }
                    return try await mock.calls(of: "Notify").count == before
                }
                let before = try await mock.calls(of: "Notify").count
                settings.notifies = true
                scene.desktop.apply(settings)
                try await soon("notifications to come again") {
                    scene.complete("2", "/d/b")
                    return try await mock.calls(of: "Notify").count > before
                }
            }
        }
    }

    @Test func `a closed notification is not replaced`() async throws {
        try await withDesktop { scene in
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                try await scene.ready()
                scene.complete("1", "/d/a")
                try await mock.waitForCalls(of: "Notify")
                // The time at which the signal arrives is unknown: repeat until a notification is new.
                try await soon("a notification that replaces none") {
                    let count = try await mock.calls(of: "Notify").count
                    try await mock.emit("NotificationClosed", "uu", [.uint32(1), .uint32(2)])
                    scene.complete("2", "/d/b")
                    let calls = try await mock.waitForCalls(of: "Notify", count: count + 1)
                    return calls[count][1] == .uint32(0)
                }
                #expect(try await mock.calls(of: "Notify").last?[4] == .string("b"))
            }
        }
    }

    @Test func `the failed downloads of a notification are retried, also where it tells of many`()
        async throws
    {
        try await withDesktop { scene in
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                try await scene.ready()
                // More than the notification lists, and than the feed keeps whole.
                let count = NotificationGroup.maxTasks + DesktopFeed.maxEnded
                for number in 1...count { scene.feed.changed(.sample("\(number)", .failed)) }
                try await soon("a notification of all") {
                    try await mock.calls(of: "Notify").last?[3]
                        == .string("\(count) downloads failed")
                }
                try await mock.emit("ActionInvoked", "us", [.uint32(1), .string("retry")])
                try await soon("all of them to be retried") {
                    let retried = scene.host.all.first { $0.hasPrefix("retry ") }
                    return retried?.split(separator: " ").count == count + 1
                }
            }
        }
    }

    @Test func `a failed download can be retried from its notification`() async throws {
        try await withDesktop { scene in
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                try await scene.ready()
                scene.feed.changed(.sample("5", .failed, failure: "HTTP 404"))
                let call = try #require(try await mock.waitForCalls(of: "Notify").first)
                #expect(call[4] == .string("file.iso: HTTP 404"))
                try await mock.emit("ActionInvoked", "us", [.uint32(9), .string("retry")])
                try await mock.emit("ActionInvoked", "us", [.uint32(1), .string("evil")])
                try await mock.emit("ActionInvoked", "us", [.uint32(1), .string("retry")])
                try await scene.host.wait(for: "retry 5")
                #expect(scene.host.all.count { $0.hasPrefix("retry") } == 1)
            }
        }
    }

    @Test func `a task that was handed over is notified, and its end replaces that`() async throws {
        try await withDesktop { scene in
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                try await scene.ready()
                scene.feed.handedOver(.sample("1", .waiting))
                let added = try #require(try await mock.waitForCalls(of: "Notify").first)
                #expect(added[3] == .string("Download added"))
                scene.complete("1", "/d/file.iso")
                let calls = try await mock.waitForCalls(of: "Notify", count: 2)
                #expect(calls[1][1] == .uint32(1))
                #expect(calls[1][3] == .string("Download completed"))
            }
        }
    }

    @Test func `the notification of a failure is closed when the task completes`() async throws {
        try await withDesktop { scene in
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                try await scene.ready()
                scene.feed.changed(.sample("1", .failed))
                try await mock.waitForCalls(of: "Notify")
                scene.complete("1", "/d/file.iso")
                let closed = try await mock.waitForCalls(of: "CloseNotification")
                // The mock declares a signed number, the specification an unsigned one.
                #expect(closed == [[.int32(1)]])
            }
        }
    }

    @Test func `the notification of many failures is closed once all of them are completed`()
        async throws
    {
        try await withDesktop { scene in
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                try await scene.ready()
                // More than a notification lists.
                let numbers = 1...NotificationGroup.maxTasks * 3 / 2
                for number in numbers { scene.feed.changed(.sample("\(number)", .failed)) }
                try await soon("a notification of all") {
                    try await mock.calls(of: "Notify").last?[3]
                        == .string("\(numbers.count) downloads failed")
                }
                for number in numbers.reversed() { scene.complete("\(number)", "/d/\(number)") }
                try await mock.waitForCalls(of: "CloseNotification")
            }
        }
    }

    @Test func `notifications are closed at the end, because their buttons would do nothing`()
        async throws
    {
        try await withDesktop { scene in
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                let session = try await Connection.open(.address(scene.bus.address))
                let notifier = Notifier(
                    session,
                    host: scene.host,
                    presenter: FilePresenter(
                        session,
                        programs: ProgramLauncher(connection: session),
                        log: .quiet
                    ),
                    backOff: Desktop.backOff,
                    log: .quiet
                )
                var news = DesktopNews()
                news.ended = [.sample("1", .completed, path: "/d/a"), .sample("2", .failed)]
                await notifier.receive(news)
                // It learns their numbers some time after the server has.
                try await soon("both to be closed") {
                    await notifier.end()
                    return try await mock.calls(of: "CloseNotification").count == 2
                }
                await session.close()
            }
        }
    }

    @Test func `a server without actions and markup gets neither`() async throws {
        try await withDesktop { scene in
            try await scene.bus.withNotificationServer(scene.connection, capabilities: "body") {
                mock in
                try await scene.ready()
                scene.complete("1", "/d/<b>")
                let call = try #require(try await mock.waitForCalls(of: "Notify").first)
                #expect(call[4] == .string("<b>"))
                #expect(call[5] == .array(of: "s", []))
                // A question without buttons could not be answered.
                scene.feed.askToContinue(.sample("2", .paused), with: .sample("3", .downloading))
                scene.complete("4", "/d/c")
                try await soon("the next file") {
                    try await mock.calls(of: "Notify").last?[4] == .string("<b>\nc")
                }
                scene.complete("5", "/d/d")
                try await soon("the last file") {
                    try await mock.calls(of: "Notify").last?[4] == .string("<b>\nc\nd")
                }
                #expect(
                    try await mock.calls(of: "Notify").allSatisfy {
                        $0[3] != .string("Continue file.iso with this link?")
                    }
                )
            }
        }
    }

    @Test func `no notifications are sent when they are off`() async throws {
        var settings = Settings.watchingPower
        settings.notifies = false
        try await withDesktop(settings: settings) { scene in
            let log = try await FakeFileManager.serve(on: scene.connection)
            try await scene.bus.withNotificationServer(scene.connection) { mock in
                try await scene.ready()
                scene.complete("1", "/d/a", whenDone: .reveal)
                // The file manager was called after the notification would have been sent.
                try await log.wait(for: "ShowItems file:///d/a ")
                #expect(try await mock.calls(of: "Notify").isEmpty)
            }
        }
    }

    /// Plays a server that does not answer the first call of one method, but carries it out; it
    /// takes the place of another one.
    private func serve(_ connection: Connection, slowAt slow: String) async throws -> CallLog {
        let log = CallLog()
        let isAsleep = Mutex(true)
        let answer: @Sendable (String) throws -> Void = { method in
            guard method == slow else { return }
            let wasAsleep = isAsleep.withLock { isAsleep in
                defer { isAsleep = false }
                return isAsleep
            }
            if wasAsleep { throw BusError.noReply("as from the bus when a service is slow") }
        }
        try await connection.export(
            [
                Interface(
                    "org.freedesktop.Notifications",
                    [
                        .method("GetCapabilities", out: ["capabilities"]) {
                            (_: Call) async throws -> [String] in
                            log.keep("GetCapabilities")
                            try answer("GetCapabilities")
                            return ["body"]
                        },
                        .method(
                            "Notify",
                            in: [
                                "app", "replaced", "icon", "summary", "body", "actions", "hints",
                                "timeout",
                            ],
                            out: ["id"]
                        ) {
                            (
                                _: Call,
                                _: String,
                                replaced: UInt32,
                                _: String,
                                _: String,
                                body: String,
                                _: [String],
                                _: [String: Value],
                                _: Int32
                            ) async throws -> UInt32 in
                            log.keep("Notify \(replaced) \(body)")
                            try answer("Notify")
                            return 7
                        },
                    ]
                )
            ],
            at: "/org/freedesktop/Notifications"
        )
        _ = try await connection.requestName(
            "org.freedesktop.Notifications",
            replaceExisting: true,
            allowReplacement: true
        )
        return log
    }

    @Test func `tasks that a slow server was not asked to show are notified after the back-off`()
        async throws
    {
        try await withDesktop(backOff: .milliseconds(20)) { scene in
            let log = try await serve(scene.connection, slowAt: "GetCapabilities")
            try await scene.ready()
            scene.complete("1", "/d/a")
            try await log.wait(for: "Notify 0 a")
            #expect(log.all == ["GetCapabilities", "GetCapabilities", "Notify 0 a"])
        }
    }

    @Test func `tasks that a slow server was asked to show are not notified twice`() async throws {
        try await withDesktop(backOff: .milliseconds(20)) { scene in
            let log = try await serve(scene.connection, slowAt: "Notify")
            try await scene.ready()
            scene.complete("1", "/d/a")
            try await log.wait(for: "Notify 0 a")
            // The number of the first notification is unknown, so it cannot be replaced.
            scene.complete("2", "/d/b")
            try await log.wait(for: "Notify 0 b")
            scene.complete("3", "/d/c")
            try await log.wait(for: "Notify 7 b\nc")
            #expect(log.all.count { $0.hasPrefix("Notify") } == 3)
        }
    }

    @Test func `a server that replaces a slow one gets notifications at once`() async throws {
        try await withDesktop { scene in
            let log = try await serve(scene.connection, slowAt: "GetCapabilities")
            try await scene.ready()
            scene.complete("1", "/d/a")
            try await log.wait(for: "GetCapabilities")
            let other = try await Connection.open(.address(scene.bus.address))
            try await serve(other, slowAt: "nothing").wait(for: "Notify 0 a")
            #expect(log.all == ["GetCapabilities"])
            await other.close()
        }
    }

    @Test func `a server that never answers delays nothing and is not called again`()
        async throws
    {
        try await withDesktop { scene in
            let asked = CallLog()
            let gate = FaultServer.Gate()
            defer { gate.open() }
            try await scene.connection.export(
                [
                    Interface(
                        "org.freedesktop.Notifications",
                        [
                            .method("GetCapabilities", out: ["capabilities"]) {
                                (_: Call) async -> [String] in
                                asked.keep("GetCapabilities")
                                await gate.waitUntilOpen()
                                return ["body"]
                            }
                        ]
                    )
                ],
                at: "/org/freedesktop/Notifications"
            )
            _ = try await scene.connection.requestName("org.freedesktop.Notifications")
            let log = try await FakeFileManager.serve(on: scene.connection)
            try await scene.ready()
            scene.complete("1", "/d/a")
            try await asked.wait(for: "GetCapabilities")
            // The file manager is called while the server is silent.
            scene.complete("2", "/d/b", whenDone: .reveal)
            try await log.wait(for: "ShowItems file:///d/b ")
            #expect(asked.all.count == 1)
        }
    }
}

extension DesktopScene {
    /// Returns once the desktop is on the bus; it does not get news from before.
    func ready() async throws {
        let log = try await SignalLog(
            MatchRule(interface: LauncherEntry.update.interface, member: "Update"),
            on: connection
        )
        let id = "ready"
        try await soon("the desktop to be on the bus") {
            feed.changed(.sample(id, .downloading, bytes: 1, total: 2))
            return log.signals.contains { $0.arguments.first == .string(LauncherEntry.application) }
        }
        feed.removed(id)
    }
}

/// A file manager that only records its calls.
enum FakeFileManager {
    static func serve(on connection: Connection) async throws -> CallLog {
        let log = CallLog()
        try await connection.export(
            [
                Interface(
                    "org.freedesktop.FileManager1",
                    [
                        .method("ShowItems", in: ["uris", "token"]) {
                            (_: Call, uris: [String], token: String) in
                            log.keep("ShowItems \(uris.joined(separator: " ")) \(token)")
                        },
                        .method("ShowFolders", in: ["uris", "token"]) {
                            (_: Call, uris: [String], token: String) in
                            log.keep("ShowFolders \(uris.joined(separator: " ")) \(token)")
                        },
                    ]
                )
            ],
            at: "/org/freedesktop/FileManager1"
        )
        _ = try await connection.requestName("org.freedesktop.FileManager1")
        return log
    }
}
