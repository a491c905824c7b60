// SPDX-License-Identifier: Apache-2.0

/// A server between client and server, on a free port of 127.0.0.1: a plain relay, a SOCKS5 proxy,
/// or an HTTP proxy that supports only CONNECT.
package final class Relay: Sendable {
    /// The kind of a relay.
    package enum Kind: Sendable {
        /// A relay of every connection to this port of 127.0.0.1.
        case port(UInt16)
        /// A SOCKS5 proxy (RFC 1928), which requires a login if one is given (RFC 1929).
        case socks5(login: String?)
        /// An HTTP proxy that makes tunnels, and requires a Basic login if one is given.
        case tunnel(login: String?)

        fileprivate var arguments: [String] {
            switch self {
            case .port(let port): ["port", "\(port)"]
            case .socks5(let login): ["socks5", login ?? ""]
            case .tunnel(let login): ["tunnel", login ?? ""]
            }
        }
    }

    /// The port on 127.0.0.1.
    package var port: UInt16 { server.port }

    private let server: PythonServer

    private init(_ server: PythonServer) { self.server = server }

    /// Starts a relay and returns once it accepts connections.
    ///
    /// - Parameters:
    ///   - kind: The kind of relay.
    ///   - folder: A folder for its files, an absolute path.
    ///   - holdAfter: How many bytes of each connection reach the client before the relay waits
    ///     for ``letGo()``; nil never waits.
    /// - Returns: The relay, which the caller must end with ``stop()``.
    /// - Throws: ``ChildProcess/StartFailure`` or ``PythonServer/StartFailure``.
    package static func start(
        _ kind: Kind,
        in folder: String,
        holdAfter: Int64? = nil
    ) async throws -> Relay {
        let server = try await PythonServer.start(
            script,
            kind.arguments,
            hold: folder + "/relay.hold",
            holdAfter: holdAfter
        )
        return Relay(server)
    }

    /// The requests of clients so far, one line each: `connect host:port login`.
    package var requests: [String] { server.requests }

    /// Continues every paused connection, and pauses no more.
    package func letGo() { server.letGo() }

    /// Ends the relay and cuts its connections; further calls do nothing.
    package func stop() async { await server.stop() }
}

extension Relay {
    private static let script = """
        import asyncio, base64, os, struct, sys

        kind, detail, hold, after = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])

        async def pump(source, sink, held):
            count = 0
            try:
                while data := await source.read(65536):
                    count += len(data)
                    while held and count > after and os.path.exists(hold):
                        await asyncio.sleep(0.02)
                    sink.write(data)
                    await sink.drain()
            except OSError:
                pass
            finally:
                sink.close()

        async def socks5(reader, writer):
            _, count = await reader.readexactly(2)
            await reader.readexactly(count)
            login = ""
            writer.write(bytes([5, 2 if detail else 0]))
            if detail:
                _, count = await reader.readexactly(2)
                user = (await reader.readexactly(count)).decode()
                password = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
                login = user + ":" + password
                writer.write(bytes([1, 0 if login == detail else 1]))
                if login != detail:
                    return None
            _, _, _, form = await reader.readexactly(4)
            if form == 3:
                host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
            else:
                host = ".".join(str(byte) for byte in await reader.readexactly(4))
            port = struct.unpack(">H", await reader.readexactly(2))[0]
            print("connect", f"{host}:{port}", login, file=log, flush=True)
            target = await asyncio.open_connection("127.0.0.1", port)
            writer.write(bytes([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
            return target

        async def tunnel(reader, writer):
            head = (await reader.readuntil(b"\\r\\n\\r\\n")).decode().split("\\r\\n")
            method, place, _ = head[0].split(" ")
            login = ""
            for line in head[1:]:
                if line.lower().startswith("proxy-authorization: basic "):
                    login = base64.b64decode(line.split(" ")[2]).decode()
            print("connect", place, login, file=log, flush=True)
            if method != "CONNECT" or login != detail:
                writer.write(
                    b'HTTP/1.1 407 No\\r\\nProxy-Authenticate: Basic realm="r"\\r\\n'
                    b'Connection: close\\r\\nContent-Length: 0\\r\\n\\r\\n')
                return None
            target = await asyncio.open_connection("127.0.0.1", int(place.split(":")[-1]))
            writer.write(b"HTTP/1.1 200 OK\\r\\nX-Proxy: here\\r\\n\\r\\n")
            return target

        async def serve(reader, writer):
            try:
                if kind == "port":
                    target = await asyncio.open_connection("127.0.0.1", int(detail))
                else:
                    target = await (socks5 if kind == "socks5" else tunnel)(reader, writer)
                if target:
                    await asyncio.gather(
                        pump(reader, target[1], False), pump(target[0], writer, True))
            except (OSError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.close()

        async def main():
            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            global log
            port = server.sockets[0].getsockname()[1]
            log = open(f"{hold}.{port}.log", "a")
            print(port, flush=True)
            await server.serve_forever()

        asyncio.run(main())
        """
}

/// Runs `body` with a relay of its own and ends the relay afterwards, even if `body` throws; the
/// parameters are those of ``Relay/start(_:in:holdAfter:)``.
package func withRelay<Value>(
    _ kind: Relay.Kind,
    in folder: String,
    holdAfter: Int64? = nil,
    _ body: (Relay) async throws -> Value
) async throws -> Value {
    let relay = try await Relay.start(kind, in: folder, holdAfter: holdAfter)
    do {
        let value = try await body(relay)
        await relay.stop()
        return value
    } catch {
        await relay.stop()
        throw error
    }
}
