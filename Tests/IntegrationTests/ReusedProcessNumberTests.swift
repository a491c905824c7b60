// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// A sandboxed application connects to the bus and ends, and a program of the user's gets its
/// process number: what still calls over the connection stays an application from a sandbox.
@Suite(.timeLimit(.minutes(2)))
struct ReusedProcessNumberTests {
    /// A folder for control groups that this process may write to; nil where there is none.
    private static let groups: String? = {
        let mounts = (try? TestFile.text(of: "/proc/self/mounts")) ?? ""
        let folder = mounts.split(separator: "\n").map { $0.split(separator: " ") }
            .first { $0.count > 2 && $0[2] == "cgroup2" }?[1]
        return folder.map(String.init).flatMap { access($0, W_OK) == 0 ? $0 : nil }
    }()

    /// How a process is put into a sandbox.
    enum Sandbox: String {
        case none, flatpak, snap
    }

    /// When the program gets the number, and what the program is.
    enum Takeover: String, CaseIterable {
        /// After the service has heard the connection come; the program is on the bus, too.
        case onBus = "on-bus"
        /// After the service has answered a call.
        case known
        /// Before the connection says Hello.
        case beforeHello = "before-hello"
        /// Before the service starts.
        case beforeService = "before-service"
        /// Before the service hears the connection come.
        case beforeSignal = "before-signal"
    }

    /// Plays the application and the program.
    ///
    /// It speaks D-Bus itself, since libraries neither wait with Hello nor let a child go on. It
    /// prints `taken` once the number has changed hands, waits for SIGUSR1, and prints the answer to
    /// each call.
    private static let script = #"""
        import ctypes, os, re, signal, socket, struct, sys, time

        sandbox, takeover, place, bus_path, task, service = sys.argv[1:]
        libc = ctypes.CDLL(None, use_errno=True)
        MANAGER = 'org.idown.Manager1'

        def string(text):
            data = text.encode()
            return struct.pack('<I', len(data)) + data + b'\0'

        def pad(data, size):
            return data + bytes(-len(data) % size)

        class Client:
            def __init__(self, path):
                self.serial = 0
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(path)
                uid = str(os.getuid()).encode().hex()
                self.socket.sendall(b'\0AUTH EXTERNAL ' + uid.encode() + b'\r\n')
                assert self.socket.recv(1024).startswith(b'OK')

            def hello(self):
                self.socket.sendall(b'BEGIN\r\n')
                return self.call('org.freedesktop.DBus', '/org/freedesktop/DBus',
                                 'org.freedesktop.DBus', 'Hello')

            def call(self, to, path, interface, member, signature='', body=b''):
                self.serial += 1
                fields = b''
                for code, kind, text in [(1, 'o', path), (2, 's', interface), (3, 's', member),
                                         (6, 's', to)]:
                    fields = pad(fields, 8) + bytes([code, 1, ord(kind), 0]) + string(text)
                if signature:
                    fields = pad(fields, 8) + bytes([8, 1, ord('g'), 0, len(signature)])
                    fields += signature.encode() + b'\0'
                head = struct.pack('<cBBBIII', b'l', 1, 0, 1, len(body), self.serial, len(fields))
                self.socket.sendall(pad(head + fields, 8) + body)
                while True:
                    head = self.read(16)
                    size, _, fields = struct.unpack('<4xIII', head)
                    rest = self.read(fields + -fields % 8 + size)
                    if head[1] == 2: return 'done'
                    if head[1] == 3:
                        names = re.findall(rb'(?:[A-Za-z]+\.)+Error\.([A-Za-z]+)', rest)
                        return names[0].decode()

            def read(self, count):
                data = b''
                while len(data) < count:
                    part = self.socket.recv(count - len(data))
                    assert part, 'the bus has ended the connection'
                    data += part
                return data

            def manager(self, member, signature='', body=b'', interface=MANAGER):
                return self.call(MANAGER, '/org/idown/Manager1', interface, member, signature, body)

        def enter():
            if sandbox == 'flatpak':
                # The bus is reached by a path from the working folder, outside of the root.
                os.chdir(os.path.dirname(bus_path))
                os.chroot(place)
                return os.path.basename(bus_path)
            if sandbox == 'none': return bus_path
            with open(place + '/cgroup.procs', 'w') as group: group.write('0')
            return bus_path

        def ticks():
            """The unit in which the kernel tells when a process started."""
            now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            return now * os.sysconf('SC_CLK_TCK') // 1_000_000_000

        def start(number, descriptor):
            """Starts a program with a process number: clone3(2), set_tid."""
            number_list = (ctypes.c_int * 1)(number)
            words = [0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(number_list), 1, 0]
            arguments = struct.pack('11Q', *words)
            while True:
                child = libc.syscall(435, arguments, len(arguments))
                if child == 0:
                    if descriptor is not None: os.set_inheritable(descriptor, True)
                    os.execv('/usr/bin/env', ['env', 'sleep', '60'])
                if child > 0: return child
                # Another process has it for now.
                assert ctypes.get_errno() == 17, os.strerror(ctypes.get_errno())

        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        gate, go = os.pipe()
        answers, said = os.pipe()
        if takeover == 'before-signal': os.kill(int(service), signal.SIGSTOP)
        application = os.fork()
        if application == 0:
            os.close(go)
            client = Client(enter())
            if takeover != 'before-hello': client.hello()
            if takeover in ('on-bus', 'known'):
                # The service took this after the signal that the connection came.
                client.manager('Ping', interface='org.freedesktop.DBus.Peer')
            if takeover == 'known': client.manager('ListTasks')
            if os.fork() > 0: os._exit(0)
            os.read(gate, 1)
            if takeover == 'before-hello': client.hello()
            for name in ['StartAll', 'PauseAll', 'ClearCompleted']:
                os.write(said, ('%s %s\n' % (name, client.manager(name))).encode())
            for name in ['Pause', 'Remove']:
                answer = client.manager(name, 's', string(task))
                os.write(said, ('%s %s\n' % (name, answer)).encode())
            body = pad(string(MANAGER), 4) + string('MaxConcurrentDownloads') + b'\1u\0'
            body = pad(body, 4) + struct.pack('<I', 5)
            answer = client.manager('Set', 'ssv', body, 'org.freedesktop.DBus.Properties')
            os.write(said, ('Set %s\n' % answer).encode())
            os.write(said, ('Quit %s\n' % client.manager('Quit')).encode())
            os._exit(0)
        os.close(said)
        own = None
        if takeover == 'on-bus':
            own = Client(bus_path)
            own.hello()
        os.waitpid(application, 0)
        # Within one tick of 10 ms the order of two events cannot be told.
        end = ticks()
        while ticks() <= end: pass
        program = start(application, own.socket.fileno() if own else None)
        if takeover == 'before-signal': os.kill(int(service), signal.SIGCONT)
        print('taken', flush=True)
        signal.sigwait({signal.SIGUSR1})
        os.close(go)
        with open(answers) as file: print(file.read(), end='', flush=True)
        os.kill(program, signal.SIGKILL)
        """#

    private static let calls = [
        "StartAll", "PauseAll", "ClearCompleted", "Pause", "Remove", "Set", "Quit",
    ]

    /// Plays a takeover; returns each call with its answer.
    private func answers(
        from sandbox: Sandbox,
        in place: String,
        _ takeover: Takeover,
        _ service: ServiceUnderTest,
        task: String
    ) async throws -> [String] {
        if takeover == .beforeService { _ = try await service.terminate() }
        let process = takeover == .beforeService ? 0 : try await service.processID()
        let path = service.bus.address.split(separator: "path=").last?.split(separator: ",").first
        let script = try await ChildProcess.start(
            "/usr/bin/python3",
            [
                "-c", Self.script, sandbox.rawValue, takeover.rawValue, place,
                String(path ?? ""), task, "\(process)",
            ]
        )
        let first = try await within("the number to change hands") { await script.nextLine() }
        #expect(first == "taken", "\(script.standardError)")
        if takeover == .beforeService { try await service.start() }
        script.send(SIGUSR1)
        var lines: [String] = []
        while let line = try await within("an answer", { await script.nextLine() }) {
            lines.append(line)
        }
        #expect(await script.waitForExit() == .exited(0), "\(script.standardError)")
        return lines
    }

    /// Plays a takeover by a program of the user's, and expects that all calls are refused.
    private func check(
        _ sandbox: Sandbox,
        _ takeover: Takeover,
        in place: (ServiceUnderTest) throws -> String
    ) async throws {
        try await withService { service in
            let task = try await service.add("http://127.0.0.1:9/a") { $0.paused = true }
            let before = try await service.client.getTask(task)
            let lines = try await answers(
                from: sandbox,
                in: try place(service),
                takeover,
                service,
                task: task
            )
            #expect(lines == Self.calls.map { "\($0) AccessDenied" })
            #expect(try await service.client.getTask(task) == before)
            #expect(try await service.client.value(of: .maxConcurrentDownloads) == .number(3))
        }
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root may choose process numbers and roots"),
        arguments: Takeover.allCases
    )
    func `a Flatpak's connection gains nothing from its old number`(takeover: Takeover) async throws
    {
        try await check(.flatpak, takeover) { service in
            let root = service.home.path + "/sandbox"
            #expect(mkdir(root, 0o755) == 0)
            let mark = "[Application]\nname=org.example.Reader\n"
            try TestFile.write(mark, to: root + "/.flatpak-info")
            return root
        }
    }

    @Test(
        .enabled(
            if: geteuid() == 0 && groups != nil,
            "only root may choose process numbers and groups, and a cgroup2 must be mounted"
        ),
        arguments: Takeover.allCases
    )
    func `a Snap's connection gains nothing from its old number`(takeover: Takeover) async throws {
        let group = "\(Self.groups ?? "")/snap.example.reader-\(getpid()).scope"
        #expect(mkdir(group, 0o755) == 0)
        // What was in the group has ended, but the kernel may not have noticed yet.
        defer { while rmdir(group) != 0, errno == EBUSY { sched_yield() } }
        try await check(.snap, takeover) { _ in group }
    }

    @Test(.enabled(if: geteuid() == 0, "only root may choose process numbers"))
    func `a program's connection stays the user's own when the program has ended`() async throws {
        try await withService { service in
            let task = try await service.add("http://127.0.0.1:9/a") { $0.paused = true }
            let lines = try await answers(from: .none, in: "/", .known, service, task: task)
            #expect(lines == Self.calls.map { "\($0) done" })
        }
    }
}
