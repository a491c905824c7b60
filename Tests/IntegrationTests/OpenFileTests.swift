// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownTesting

/// OpenFile, for the user's own programs and from a sandbox.
@Suite(.timeLimit(.minutes(2))) struct OpenFileTests {
    private let content = TestContent(seed: 96, count: 1_000_000)

    private func read(_ file: OpenDescriptor, _ count: Int, at offset: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let found = pread(file.number, &bytes, count, off_t(offset))
        return Array(bytes.prefix(max(0, found)))
    }

    @Test func `the user's own programs read a finished file, and what is there of a partial one`()
        async throws
    {
        let half: Int64 = 500_000
        let host = try ChangingHost(.held(content, after: half))
        defer { host.stop() }
        try await withService { service in
            let client = service.client
            let id = try await service.add(host.url())
            try await service.waitForBytes(half, of: id)
            try await service.pause(id, with: half)
            let partial = try await client.openFile(id)
            #expect(
                read(partial, 1 << 20, at: 0).prefix(Int(half)) == content.bytes(in: 0..<half)[...]
            )
            #expect(write(partial.number, [1], 1) == -1)

            host.letGo()
            try await client.resume(id)
            try await service.waitForState("completed", of: id)
            let whole = try await client.openFile(id)
            #expect(read(whole, 1 << 20, at: 0) == content.bytes(in: 0..<content.count))

            let path = try await client.getTask(id).path
            #expect(unlink(path) == 0)
            #expect(await refusal { _ = try await client.openFile(id) } == .invalidState)
            let empty = try await service.add(host.url("/other")) { $0.paused = true }
            #expect(await refusal { _ = try await client.openFile(empty) } == .invalidState)
            #expect(await refusal { _ = try await client.openFile("99") } == .noSuchTask)
        }
    }

    /// Speaks D-Bus itself, since every library takes open files where the bus does.
    private static let withoutFiles = #"""
        import os, re, socket, struct, sys

        path, task = sys.argv[1:]
        bus = socket.socket(socket.AF_UNIX)
        bus.connect(path)
        bus.sendall(b'\0AUTH EXTERNAL ' + str(os.getuid()).encode().hex().encode() + b'\r\n')
        assert bus.recv(1024).startswith(b'OK')
        bus.sendall(b'BEGIN\r\n')

        def string(text): return struct.pack('<I', len(text)) + text.encode() + b'\0'
        def pad(data): return data + bytes(-len(data) % 8)

        def call(serial, to, path, member, signature='', body=b''):
            fields = b''
            for code, kind, text in [(1, 'o', path), (2, 's', to), (3, 's', member), (6, 's', to)]:
                fields = pad(fields) + bytes([code, 1, ord(kind), 0]) + string(text)
            if signature: fields = pad(fields) + bytes([8, 1, ord('g'), 0, 1]) + b's\0'
            head = struct.pack('<cBBBIII', b'l', 1, 0, 1, len(body), serial, len(fields))
            bus.sendall(pad(head + fields) + body)

        call(1, 'org.freedesktop.DBus', '/org/freedesktop/DBus', 'Hello')
        call(2, 'org.idown.Manager1', '/org/idown/Manager1', 'OpenFile', 's', string(task))
        data = b''
        while not (found := re.search(rb'Error\.([A-Za-z]+)', data)): data += bus.recv(65536)
        print(found[1].decode())
        """#

    @Test func `who takes no open files gets an error`() async throws {
        let host = try FaultServer.serving(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.add(host.url())
            try await service.waitForState("completed", of: id)
            let address = service.bus.address
            let path = address.split(separator: "path=").last?.split(separator: ",").first ?? ""
            let caller = try await ChildProcess.run(
                "/usr/bin/python3",
                ["-c", Self.withoutFiles, String(path), id]
            )
            #expect(caller.standardOutput == "NotSupported", "\(caller.standardError)")
        }
    }

    /// Runs in a root of its own, where the file is not.
    private static let reader = """
        import hashlib, os, stat, sys, time
        import dbus, dbus.bus, dbus.exceptions

        root, url, other = sys.argv[1:]
        bus_path = os.environ['DBUS_SESSION_BUS_ADDRESS'].split('path=')[1].split(',')[0]
        os.chdir(os.path.dirname(bus_path))
        os.chroot(root)
        bus = dbus.bus.BusConnection('unix:path=' + os.path.basename(bus_path))
        os.chdir('/')
        thing = bus.get_object('org.idown.Manager1', '/org/idown/Manager1', introspect=False)
        manager = dbus.Interface(thing, 'org.idown.Manager1')
        mine = manager.AddURL(url)
        print(manager.Wait(mine))
        files = [manager.OpenFile(mine).take() for _ in range(16)]
        try:
            manager.OpenFile(mine)
        except dbus.exceptions.DBusException as error:
            print(error.get_dbus_name().split('.')[-1])
        for file in files[1:]:
            os.close(file)
        file = files[0]
        print(stat.S_ISFIFO(os.fstat(file).st_mode))
        try:
            os.write(file, b'x')
        except OSError as error:
            print('write', error.errno)
        digest = hashlib.sha256()
        while piece := os.read(file, 100000):
            digest.update(piece)
        print(digest.hexdigest())
        # The closed pipes count no more, although most of them were full.
        again = []
        for _ in range(1000):
            try:
                again.append(manager.OpenFile(mine).take())
                if len(again) == 16:
                    print('again')
                    break
            except dbus.exceptions.DBusException:
                time.sleep(0.01)
        for wrong in [other, manager.AddURLWithOptions(
            url + '/2', dbus.Dictionary({'paused': dbus.Boolean(True, variant_level=1)}, signature='sv')
        )]:
            try:
                manager.OpenFile(wrong)
            except dbus.exceptions.DBusException as error:
                print(error.get_dbus_name().split('.')[-1])
        """

    @Test(.enabled(if: geteuid() == 0, "only root may give a process another root"))
    func `a sandbox reads its own finished file through a pipe, and nobody else's`() async throws {
        let host = try FaultServer.serving(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let other = try await service.add(host.url("/other"))
            try await service.waitForState("completed", of: other)
            let root = service.home.path + "/sandbox"
            #expect(mkdir(root, 0o755) == 0)
            try TestFile.write(
                "[Application]\nname=org.example.Reader\n",
                to: root + "/.flatpak-info"
            )
            let client = try await ChildProcess.run(
                "/usr/bin/python3",
                ["-c", Self.reader, root, host.url("/mine"), other],
                environment: service.environment
            )
            let sum = try await ChildProcess.run("sha256sum", [service.home.download("mine")])
            let digest = String(sum.standardOutput.prefix { $0 != " " })
            #expect(
                client.standardOutput.split(separator: "\n") == [
                    "completed", "LimitExceeded", "True", "write \(EBADF)", digest[...], "again",
                    "AccessDenied", "InvalidState",
                ],
                "\(client.standardError)"
            )
        }
    }
}
