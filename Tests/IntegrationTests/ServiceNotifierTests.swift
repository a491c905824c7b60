// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

/// What the service tells the systemd that started it.
@Suite(.timeLimit(.minutes(2)))
struct ServiceNotifierTests {
    /// Takes datagrams as systemd does, and prints each in a line; first says that it listens.
    private static let supervisor = """
        import socket, sys
        name = sys.argv[1]
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listener.bind('\\0' + name[1:] if name[0] == '@' else name)
        print('listening', flush=True)
        while True:
            print(listener.recv(4096).decode(), flush=True)
        """

    @Test(arguments: [false, true])
    func `READY comes with the name, STOPPING before the end`(isAbstract: Bool) async throws {
        try await withService(started: false) { service in
            let path = service.home.path + "/run/notify"
            let name = isAbstract ? "@" + path : path
            try await withChild("/usr/bin/python3", ["-c", Self.supervisor, name]) { supervisor in
                #expect(await supervisor.nextLine() == "listening")
                try await service.launch(environment: ["NOTIFY_SOCKET": name])
                let ready = try await within("READY=1") { await supervisor.nextLine() }
                #expect(ready == "READY=1")
                #expect(try await service.processID() > 0)
                #expect(try await service.terminate() == .exited(0))
                let stopping = try await within("STOPPING=1") { await supervisor.nextLine() }
                #expect(stopping == "STOPPING=1")
            }
        }
    }

    @Test func `a supervisor that is not there changes nothing`() async throws {
        try await withService(started: false) { service in
            let none = service.home.path + "/run/none"
            try await service.start(under: ["env", "NOTIFY_SOCKET=\(none)"])
            #expect(try await service.terminate() == .exited(0))
        }
    }
}
