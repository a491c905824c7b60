// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@testable import iDownDesktop

@Suite(.timeLimit(.minutes(2))) struct FilePresenterTests {
    @Test func `when-done reveals several files in one window`() async throws {
        try await withDesktop { scene in
            let log = try await FakeFileManager.serve(on: scene.connection)
            try await scene.ready()
            scene.complete("1", "/d/a b", whenDone: .reveal)
            scene.complete("2", "/d/c")
            try await log.wait(for: "ShowItems file:///d/a%20b ")
        }
    }

    @Test func `the portal is handed the file itself`() async throws {
        try await withTemporaryFolder { folder in
            try await withDesktop { scene in
                let path = folder + "/hello.txt"
                try TestFile.write("hello from the file\n", to: path)
                // In Python: this library takes no descriptors from callers.
                let script = """
                    import dbus, dbus.service, dbus.mainloop.glib, os, sys
                    from gi.repository import GLib
                    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
                    bus = dbus.bus.BusConnection(sys.argv[1])
                    class Portal(dbus.service.Object):
                        @dbus.service.method('org.freedesktop.portal.OpenURI', 'sha{sv}', 'o')
                        def OpenFile(self, parent, file, options):
                            print(os.read(file.take(), 100).decode(), end='', flush=True)
                            return dbus.ObjectPath('/org/freedesktop/portal/desktop/request/1')
                    portal = Portal(bus, '/org/freedesktop/portal/desktop')
                    name = dbus.service.BusName('org.freedesktop.portal.Desktop', bus)
                    print('ready', flush=True)
                    GLib.MainLoop().run()
                    """
                try await withChild(
                    "/usr/bin/python3",
                    ["-c", script, scene.bus.address]
                ) { portal in
                    #expect(await portal.nextLine() == "ready", "\(portal.standardError)")
                    try await scene.ready()
                    scene.complete("1", path, whenDone: .open)
                    let line = try await within("the portal") { await portal.nextLine() }
                    #expect(line == "hello from the file")
                }
            }
        }
    }
}
