// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// An HTTP server that does exactly what a test tells it, right or wrong.
///
/// It uses sockets on a free port of 127.0.0.1, a thread for the port and one per connection. A
/// ``Script`` makes its answers; ``ServedFile`` is one for a correct host. End it with ``stop()``,
/// best in a `defer`, which also keeps the server alive until then.
package final class FaultServer: Sendable {
    /// Why the server did not start.
    package struct StartFailure: Error, CustomStringConvertible {
        package let description: String

        init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
    }

    /// The port on 127.0.0.1.
    package let port: UInt16

    private let listener: Int32
    private let log = RequestLog()
    private let stopped: Gate
    private let threads = DispatchGroup()
    private let hasStopped = Atomic<Bool>(false)

    /// Opens the port; the server accepts connections from then on.
    package init(script: Script) throws(StartFailure) {
        stopped = Gate()
        listener = try Self.openListener()
        port = Self.port(of: listener)
        let (listener, log, stopped, threads) = (listener, log, stopped, threads)
        Self.startThread(in: threads) {
            var number = 0
            while Self.wait(for: listener, POLLIN, orOpen: stopped) {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else { continue }
                // A child that a test starts must not keep the connection open.
                _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
                number += 1
                let connection = Connection(
                    socket: socket,
                    number: number,
                    script: script,
                    log: log,
                    stopped: stopped
                )
                Self.startThread(in: threads) { connection.run() }
            }
        }
    }

    /// The URL of a target on this server, for example `url("/file?x")`.
    package func url(_ target: String = "/") -> String { "http://127.0.0.1:\(port)\(target)" }

    /// The requests seen so far, in order of arrival.
    package var requests: [RecordedRequest] { log.requests }

    /// Waits until this many requests have arrived, and returns the last of them.
    @discardableResult
    package func waitForRequest(count: Int = 1) async -> RecordedRequest {
        await log.waitForRequest(count: count)
    }

    /// Closes the port and all connections, even those that wait at a gate; further calls do
    /// nothing.
    package func stop() {
        guard !hasStopped.exchange(true, ordering: .relaxed) else { return }
        stopped.open()
        threads.wait()
        close(listener)
    }
}

extension FaultServer {
    private static func openListener() throws(StartFailure) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let listener = socket(AF_INET, type, 0)
        guard listener >= 0 else { throw StartFailure("socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        let isBound = withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                bind(listener, pointer.baseAddress, socklen_t(bytes.count)) == 0
            }
        }
        guard isBound, listen(listener, SOMAXCONN) == 0 else {
            defer { close(listener) }
            throw StartFailure("bind")
        }
        return listener
    }

    private static func port(of listener: Int32) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                getsockname(listener, pointer.baseAddress, &length)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Waits without limit for an event on a descriptor; returns false once the gate is open.
    static func wait(for descriptor: Int32, _ events: Int32, orOpen gate: Gate) -> Bool {
        var entries = [
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
            pollfd(fd: gate.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&entries, 2, -1) < 0, errno == EINTR {}
        return entries[1].revents == 0
    }

    /// Starts a plain thread, because hundreds of connections may each wait without end.
    private static func startThread(
        in group: DispatchGroup,
        _ body: @escaping @Sendable () -> Void
    ) {
        group.enter()
        let start = Unmanaged.passRetained(
            ThreadStart {
                body()
                group.leave()
            }
        )
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 512 * 1024)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let code = pthread_create(&thread, &attributes, runThread, start.toOpaque())
        precondition(code == 0, "no thread for the fault server: \(code)")
    }
}

/// The closure that a new thread runs.
private final class ThreadStart: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue().body()
    return nil
}
