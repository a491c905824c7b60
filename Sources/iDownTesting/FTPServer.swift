// SPDX-License-Identifier: Apache-2.0

/// A real FTP server, pyftpdlib, on a free port of 127.0.0.1, which serves a folder.
///
/// It can pause in the middle of each file until the test calls ``letGo()``.
package final class FTPServer: Sendable {
    /// Faults of real FTP servers.
    package enum Oddity: String, Sendable {
        /// The first connection gets one reply twice, so that every later reply comes one command
        /// late.
        case repeatsReply = "twice"
        /// Every connection is refused with 421.
        case isFull = "full"
        /// Every connection is refused with 530.
        case isShut = "shut"
        /// The first login is refused, because there are too many.
        case isCrowded = "crowded"
        /// REST is answered with 350, but the file is sent from its first byte.
        case ignoresRestart = "whole"
        /// REST is refused as an unknown command.
        case refusesRestart = "never"
        /// REST is answered with 350, and RETR after it is refused.
        case cannotSeek = "rigid"
        /// A file that is requested from an offset is replaced by `next` beside the served folder,
        /// after its date was told and before it is opened.
        case replacesLate = "late"
        /// SIZE is answered with a thousand bytes too few.
        case understatesSize = "less"
        /// SIZE is answered with a thousand bytes too many.
        case overstatesSize = "more"
        /// SIZE is answered as if the file did not exist.
        case hidesSize = "hidden"
        /// QUIT is not answered, and the connection stays open.
        case ignoresQuit = "mute"
        /// The reply 226 after a file never comes.
        case forgetsEnd = "endless"
        /// SIZE is answered as if the file did not exist, and so is the end of every file.
        case deniesEnd = "denied"
        /// SIZE is refused as an unknown command, and the reply to RETR names an enormous size.
        case boastsOfSize = "boast"
    }

    /// The port on 127.0.0.1.
    package var port: UInt16 { server.port }

    private let server: PythonServer

    private init(_ server: PythonServer) { self.server = server }

    /// Starts a server and returns once it accepts connections.
    ///
    /// - Parameters:
    ///   - root: The folder to serve, an absolute path.
    ///   - login: The only login that may read it; nil allows anonymous access.
    ///   - holdAfter: How many bytes of each file are sent before the server waits for
    ///     ``letGo()``; nil never waits.
    ///   - oddity: The server's fault; nil for none.
    /// - Returns: The server, which the caller must end with ``stop()``.
    /// - Throws: ``ChildProcess/StartFailure`` or ``PythonServer/StartFailure``.
    package static func start(
        root: String,
        login: (user: String, password: String)? = nil,
        holdAfter: Int64? = nil,
        oddity: Oddity? = nil
    ) async throws -> FTPServer {
        let server = try await PythonServer.start(
            script,
            [root, login?.user ?? "", login?.password ?? "", oddity?.rawValue ?? ""],
            hold: root + ".hold",
            holdAfter: holdAfter
        )
        return FTPServer(server)
    }

    /// The URL of a file in the folder, for example `url("/file")`.
    package func url(_ path: String, login: String = "") -> String {
        "ftp://\(login)127.0.0.1:\(port)\(path)"
    }

    /// The commands that clients have sent so far, passwords included.
    package var commands: [String] { server.requests }

    /// Continues every paused file, and pauses no more.
    package func letGo() { server.letGo() }

    /// Ends the server and cuts its connections; further calls do nothing.
    package func stop() async { await server.stop() }
}

extension FTPServer {
    private static let script = """
        import os, sys
        from pyftpdlib.authorizers import DummyAuthorizer
        from pyftpdlib.handlers import DTPHandler, FTPHandler
        from pyftpdlib.servers import FTPServer

        root, user, password, oddity, hold, after = sys.argv[1:7]

        class Held(DTPHandler):
            waits = False

            def send(self, data):
                sent = super().send(data)
                if self.get_transmitted_bytes() + sent >= int(after) and os.path.exists(hold):
                    self.waits = True
                    self.del_channel()
                    self.look()
                return sent

            def look(self):
                if self._closed:
                    return
                if os.path.exists(hold):
                    self.ioloop.call_later(0.02, self.look)
                else:
                    self.waits = False
                    self.add_channel(events=self.ioloop.WRITE)

            def modify_ioloop_events(self, events, logdebug=False):
                if not self.waits:
                    super().modify_ioloop_events(events, logdebug)

        class Handler(FTPHandler):
            authorizer = DummyAuthorizer()
            auth_failed_timeout = 0.01
            # Only what passes through send() can be held.
            use_sendfile = False
            dtp_handler = Held

            def handle_max_cons(self):
                if oddity != "shut":
                    return super().handle_max_cons()
                self.respond("530 Sorry, the maximum number of clients are connected already.")
                self.close_when_done()

            def pre_process_command(self, line, cmd, arg):
                global oddity
                print(cmd, arg, file=log, flush=True)
                if oddity == "twice" and cmd == "TYPE":
                    oddity = ""
                    self.respond("200 Once.")
                if oddity == "crowded" and cmd == "PASS":
                    oddity = ""
                    self.respond("530-Hello.\\r\\n530 Sorry, too many connections from your host.")
                    return self.close_when_done()
                if oddity == "mute" and cmd == "QUIT":
                    return
                super().pre_process_command(line, cmd, arg)

            def ftp_REST(self, line):
                if oddity == "never":
                    self.respond("502 What?")
                    return
                super().ftp_REST(line)
                if oddity == "whole":
                    self._restart_position = 0

            def ftp_RETR(self, file):
                if oddity == "rigid" and self._restart_position:
                    self._restart_position = 0
                    self.respond("554 Requested action not taken: invalid REST parameter.")
                    return
                if oddity == "late" and self._restart_position and os.path.exists(root + ".next"):
                    os.rename(root + ".next", file)
                return super().ftp_RETR(file)

            def respond(self, resp, *arguments, **options):
                if oddity == "boast" and resp[:3] in ("125", "150"):
                    resp = f"150 Opening the file ({2**63 - 1} bytes)."
                if oddity == "endless" and resp[:3] == "226":
                    return
                if oddity == "denied" and resp[:3] == "226":
                    resp = "550 No such file."
                super().respond(resp, *arguments, **options)

            def ftp_SIZE(self, path):
                if oddity in ("hidden", "denied"):
                    self.respond("550 No such file.")
                elif oddity == "boast":
                    self.respond("502 What?")
                elif oddity == "more":
                    self.respond(f"213 {os.path.getsize(path) + 1000}")
                elif oddity == "less":
                    self.respond(f"213 {os.path.getsize(path) - 1000}")
                else:
                    super().ftp_SIZE(path)

        if user:
            Handler.authorizer.add_user(user, password, root, perm="elr")
        else:
            Handler.authorizer.add_anonymous(root, perm="elr")
        server = FTPServer(("127.0.0.1", 0), Handler)
        # The listening socket counts as well.
        server.max_cons = 1 if oddity in ("full", "shut") else 0
        port = server.socket.getsockname()[1]
        log = open(f"{hold}.{port}.log", "a")
        print(port, flush=True)
        server.serve_forever(handle_exit=False)
        """
}

/// Runs `body` with an FTP server of its own and ends the server afterwards, even if `body` throws;
/// the parameters are those of ``FTPServer/start(root:login:holdAfter:oddity:)``.
package func withFTPServer<Value>(
    root: String,
    login: (user: String, password: String)? = nil,
    holdAfter: Int64? = nil,
    oddity: FTPServer.Oddity? = nil,
    _ body: (FTPServer) async throws -> Value
) async throws -> Value {
    let server = try await FTPServer.start(
        root: root,
        login: login,
        holdAfter: holdAfter,
        oddity: oddity
    )
    do {
        let value = try await body(server)
        await server.stop()
        return value
    } catch {
        await server.stop()
        throw error
    }
}
