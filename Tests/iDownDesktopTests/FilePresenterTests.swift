// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownState
import iDownTesting

@testable import iDownDesktop

@Suite(.timeLimit(.minutes(2))) struct FilePresenterTests {
    @Test func `files that complete with when-done "reveal" are shown in the file manager`()
        async throws
    {
        try await withDesktop { scene in
            let log = try await FakeFileManager.serve(on: scene.connection)
            try await scene.ready()
            scene.complete("1", "/d/a b", whenDone: .reveal)
            scene.complete("2", "/d/c")
            try await log.wait(for: "ShowItems file:///d/a%20b ")
        }
    }

    @Test func `the portal gets the open file`() async throws {
        let script = """
            class Portal(dbus.service.Object):
                @dbus.service.method('org.freedesktop.portal.OpenURI', 'sha{sv}', 'o')
                def OpenFile(self, parent, file, options):
                    print(os.read(file.take(), 100).decode(), end='', flush=True)
                    return dbus.ObjectPath('/org/freedesktop/portal/desktop/request/1')
            portal = Portal(bus, '/org/freedesktop/portal/desktop')
            name = dbus.service.BusName('org.freedesktop.portal.Desktop', bus)
            """
        try await withServices(script) { scene, path, portal in
            scene.complete("1", path, whenDone: .open)
            let line = try await within("the portal") { await portal.nextLine() }
            #expect(line == "hello from the file")
        }
    }

    @Test func `files that a slow file manager was asked to show are shown by no other service`()
        async throws
    {
        // NoReply is the bus's error for a service that does not answer in time.
        let script = """
            class Files(dbus.service.Object):
                @dbus.service.method('org.freedesktop.FileManager1', 'ass')
                def ShowItems(self, uris, token):
                    print('the file manager', flush=True)
                    raise dbus.exceptions.DBusException(
                        'slow', name='org.freedesktop.DBus.Error.NoReply')
            class Portal(dbus.service.Object):
                @dbus.service.method('org.freedesktop.portal.OpenURI', 'sha{sv}', 'o')
                def OpenDirectory(self, parent, file, options):
                    print('the portal', flush=True)
                    return dbus.ObjectPath('/org/freedesktop/portal/desktop/request/1')
            files = Files(bus, '/org/freedesktop/FileManager1')
            portal = Portal(bus, '/org/freedesktop/portal/desktop')
            names = [dbus.service.BusName(name, bus) for name in (
                'org.freedesktop.FileManager1', 'org.freedesktop.portal.Desktop')]
            """
        try await withServices(script) { scene, path, services in
            // The second file is shown after everything that the first has caused.
            for id in ["1", "2"] {
                scene.complete(id, path, whenDone: .reveal)
                let line = try await within("a file manager or portal") {
                    await services.nextLine()
                }
                #expect(line == "the file manager")
            }
        }
    }

    @Test(
        arguments: [
            "old.close()",
            """
            GLib.timeout_add(100, old.close); raise dbus.exceptions.DBusException( \
            name='org.freedesktop.DBus.Error.UnknownMethod')
            """,
        ]
    )
    func `a window that ends while it is asked is asked once more when the next can take its name`(
        end: String
    ) async throws {
        // The bus gives the name to the connection that waits for it.
        let script = """
            class Window(dbus.service.Object):
                @dbus.service.method('org.freedesktop.Application', 'a{sv}')
                def Activate(self, data):
                    print('the next window', flush=True)
            class Ending(dbus.service.Object):
                @dbus.service.method('org.freedesktop.Application', 'a{sv}')
                def Activate(self, data):
                    print('the ending window', flush=True)
                    \(end)
            old = dbus.bus.BusConnection(sys.argv[1])
            old.set_exit_on_disconnect(False)
            windows = [Ending(old, '/org/idown/Window'), Window(bus, '/org/idown/Window')]
            names = [dbus.service.BusName('org.idown.Window', each) for each in (old, bus)]
            """
        try await withServices(script) { scene, _, windows in
            scene.feed.activated()
            for expected in ["the ending window", "the next window"] {
                let line = try await within("a window") { await windows.nextLine() }
                #expect(line == expected, "\(windows.standardError)")
            }
        }
    }

    @Test func `showing the list needs a terminal and the idown program`() {
        func commands(_ found: Set<String>) -> [[String]] {
            FilePresenter.listCommands { found.contains($0) ? "/bin/\($0)" : nil }
        }
        #expect(commands([]).isEmpty)
        #expect(commands(["idown"]).isEmpty)
        #expect(commands(["xdg-terminal-exec"]).isEmpty)
        #expect(
            commands(["xdg-terminal-exec", "x-terminal-emulator", "idown"]) == [
                ["xdg-terminal-exec", "/bin/idown", "watch"],
                ["x-terminal-emulator", "-e", "/bin/idown", "watch"],
            ]
        )
    }

    /// Runs `body` with a desktop, a file, and a script that plays the services on `bus`.
    ///
    /// The script is in Python because this library's exported methods take no file descriptors.
    private func withServices(
        _ script: String,
        _ body: (DesktopScene, _ path: String, ChildProcess) async throws -> Void
    ) async throws {
        let program = """
            import dbus, dbus.service, dbus.mainloop.glib, os, sys
            from gi.repository import GLib
            dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
            bus = dbus.bus.BusConnection(sys.argv[1])
            \(script)
            print('ready', flush=True)
            GLib.MainLoop().run()
            """
        try await withTemporaryFolder { folder in
            try await withDesktop { scene in
                let path = folder + "/hello.txt"
                try TestFile.write("hello from the file\n", to: path)
                try await withChild(
                    "/usr/bin/python3",
                    ["-c", program, scene.bus.address]
                ) { services in
                    #expect(await services.nextLine() == "ready", "\(services.standardError)")
                    try await scene.ready()
                    try await body(scene, path, services)
                }
            }
        }
    }
}
