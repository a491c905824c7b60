// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownTesting

/// What desktops do with the installed files; the service does not run before.
@Suite(.timeLimit(.minutes(5)))
struct HandOffTests {
    private let content = TestContent(seed: 121, count: 300_000)

    private func withDesktop(
        _ file: ServedFile? = nil,
        _ body: (ServiceUnderTest, ChangingHost) async throws -> Void
    ) async throws {
        let host = try ChangingHost(file ?? ServedFile(content))
        defer { host.stop() }
        try await withService(started: false) { service in
            try await service.installForDesktop()
            try await body(service, host)
        }
    }

    /// Waits for the file of the one task that a program hands over.
    private func expectFile(
        _ service: ServiceUnderTest,
        _ handOver: () async throws -> ChildProcess.Completed
    ) async throws {
        let mark = service.signals.count
        let done = try await handOver()
        #expect(done.succeeded, "\(done)")
        let id = try await service.addedTask(after: mark)
        try await service.waitForState("completed", of: id)
        let task = try await service.client.getTask(id)
        #expect(task.directory == service.home.downloads)
        #expect(try content.firstDifference(fromFile: task.path) == nil)
    }

    private func link(to url: String) -> String {
        "idown:?url="
            + url.replacing(":", with: "%3A").replacing("/", with: "%2F")
            .replacing("?", with: "%3F").replacing("=", with: "%3D").replacing("&", with: "%26")
    }

    @Test func `gio open takes a link to the service`() async throws {
        try await withDesktop { service, host in
            let link = link(to: host.url("/file.bin?a=1&b=2"))
            try await expectFile(service) { try await service.desktop("gio", "open", link) }
            #expect(host.server.requests.map(\.target) == ["/file.bin?a=1&b=2"])
        }
    }

    @Test func `gio open takes a metalink's file to the service`() async throws {
        try await withDesktop { service, host in
            let path = service.home.path + "/a list.meta4"
            try TestFile.write(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <metalink xmlns="urn:ietf:params:xml:ns:metalink">
                  <file name="one.bin"><url>\(host.url("/1"))</url></file>
                </metalink>
                """,
                to: path
            )
            try await expectFile(service) { try await service.desktop("gio", "open", path) }
            #expect(TestFile.exists(service.home.download("one.bin")))
        }
    }

    @Test func `gio launch runs the Exec line with a URL`() async throws {
        try await withDesktop { service, host in
            let url = host.url("/file.bin")
            try await expectFile(service) {
                try await service.desktop("gio", "launch", service.desktopFile, url)
            }
        }
    }

    @Test func `the Exec line works by hand`() async throws {
        try await withDesktop { service, host in
            let entry = try TestFile.text(of: service.desktopFile).split(separator: "\n")
            let line = try #require(entry.first { $0.hasPrefix("Exec=") }).dropFirst(5)
            #expect(line.hasSuffix(" %U"))
            let command = "\(line.dropLast(2))'\(link(to: host.url("/file.bin")))'"
            try await expectFile(service) { try await service.desktop("sh", "-c", command) }
        }
    }

    @Test func `gapplication chooses the actions of the launcher`() async throws {
        try await withDesktop(.held(content)) { service, host in
            let name = "org.idown.Manager1"
            let listed = try await service.desktop("gapplication", "list-actions", name)
            #expect(listed.standardOutput.split(separator: "\n") == ["start-all", "pause-all"])

            try await service.start()
            let id = try await service.addHeld(on: host)
            _ = try await service.terminate()
            let paused = try await service.desktop("gapplication", "action", name, "pause-all")
            #expect(paused.succeeded, "\(paused)")
            try await service.waitForState("paused", of: id)
            let started = try await service.desktop("gapplication", "action", name, "start-all")
            #expect(started.succeeded, "\(started)")
            try await service.waitForState("downloading", of: id)

            let unknown = try await service.desktop(
                "gdbus",
                "call",
                "--session",
                "--dest",
                name,
                "--object-path",
                "/org/idown/Manager1",
                "--method",
                "org.freedesktop.Application.ActivateAction",
                "quit",
                "[]",
                "{}"
            )
            #expect(!unknown.succeeded)
            #expect(unknown.standardError.contains("start-all and pause-all"), "\(unknown)")
        }
    }

    @Test func `gapplication launch starts the service, and nothing else`() async throws {
        try await withDesktop { service, _ in
            let launched = try await service.desktop(
                "gapplication",
                "launch",
                "org.idown.Manager1"
            )
            #expect(launched.succeeded, "\(launched)")
            #expect(try await service.processID() > 0)
            #expect(try await service.client.listTasks().isEmpty)
        }
    }
}
