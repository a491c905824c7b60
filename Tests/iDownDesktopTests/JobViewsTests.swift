// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownState
import iDownTesting

@testable import iDownDesktop

@Suite(.timeLimit(.minutes(2))) struct JobViewsTests {
    private static let view: InterfaceName = "org.kde.JobViewV3"
    private static let path: ObjectPath = "/JobViewServer/JobView_1"

    /// Plays KDE's job view server, with one view.
    @discardableResult
    private func serve(
        _ connection: Connection,
        log: CallLog = CallLog()
    ) async throws -> CallLog {
        try await connection.export(
            [
                Interface(
                    "org.kde.JobViewServerV2",
                    [
                        .method("requestView", in: ["entry", "can", "hints"], out: ["view"]) {
                            (_: Call, entry: String, can: Int32, _: [String: Value]) -> ObjectPath
                            in
                            log.keep("requestView \(entry) \(can)")
                            return Self.path
                        }
                    ]
                )
            ],
            at: "/JobViewServer"
        )
        try await connection.export(
            [
                Interface(
                    Self.view,
                    [
                        .method("update", in: ["properties"]) {
                            (_: Call, properties: [String: Value]) in
                            for (key, value) in properties { log.keep("\(key) \(value)") }
                        },
                        .method("terminate", in: ["code", "message", "hints"]) {
                            (_: Call, code: UInt32, message: String, _: [String: Value]) in
                            log.keep("terminate \(code) \(message)")
                        },
                    ]
                )
            ],
            at: Self.path
        )
        _ = try await connection.requestName("org.kde.JobViewServer")
        return log
    }

    private func press(_ button: MemberName, on connection: Connection) async throws {
        try await connection.emit(Self.view, button, at: Self.path, WireWriter())
    }

    @Test func `a download has a view with working buttons, which ends with it`() async throws {
        try await withDesktop { scene in
            try await scene.ready()
            let log = try await serve(scene.connection)
            let running = DesktopTask.sample("1", .downloading, bytes: 25, total: 100)
            var task = running
            scene.feed.changed(task)
            // Reported twice: a download gets a view only if it is active in two updates.
            try await soon("a view") {
                scene.feed.changed(running)
                return log.all.contains("requestView org.idown.Manager1 3")
            }
            try await log.wait(for: "percent uint32(25)")
            try await log.wait(for: #"infoMessage string("file.iso")"#)
            try await press("suspendRequested", on: scene.connection)
            try await scene.host.wait(for: "pause 1")
            task.state = .paused
            scene.feed.changed(task)
            try await log.wait(for: "suspended boolean(true)")
            try await press("resumeRequested", on: scene.connection)
            try await scene.host.wait(for: "resume 1")
            try await press("cancelRequested", on: scene.connection)
            try await scene.host.wait(for: "cancel 1")
            task.state = .failed
            task.failure = "HTTP 404"
            scene.feed.changed(task)
            try await log.wait(for: "terminate 100 HTTP 404")
        }
    }

    @Test func `a new server gets new views`() async throws {
        try await withDesktop { scene in
            try await scene.ready()
            let task = DesktopTask.sample("1", .downloading, bytes: 1, total: 2)
            for _ in 0..<2 {
                let server = try await Connection.open(.address(scene.bus.address))
                let log = try await serve(server)
                try await soon("a view") {
                    scene.feed.changed(task)
                    return log.all.contains("percent uint32(50)")
                }
                await server.close()
            }
        }
    }

    @Test func `views that are open when the service ends are closed as cancelled by the user`()
        async throws
    {
        let log = CallLog()
        try await withDesktop { scene in
            try await scene.ready()
            try await serve(scene.connection, log: log)
            try await soon("a view") {
                scene.feed.changed(.sample("1", .downloading))
                return log.all.contains("requestView org.idown.Manager1 3")
            }
        }
        #expect(log.all.last == "terminate 1 ")
    }

    @Test func `a cancelled task closes its view`() async throws {
        try await withDesktop { scene in
            try await scene.ready()
            let log = try await serve(scene.connection)
            try await soon("a view") {
                scene.feed.changed(.sample("1", .downloading))
                return log.all.contains("requestView org.idown.Manager1 3")
            }
            scene.feed.changed(.sample("1", .cancelled))
            try await log.wait(for: "terminate 1 ")
        }
    }
}
