// SPDX-License-Identifier: Apache-2.0

import Glibc

extension FaultServer {
    /// One connection on a thread of its own: reads requests and runs the script's steps.
    struct Connection {
        let socket: Int32
        let number: Int
        let script: Script
        let log: RequestLog
        let stopped: Gate

        /// The connection is over: the peer closed it, the server stops, or the script closed it.
        private struct Ended: Error {}

        /// POLLRDHUP of poll(2): the peer has closed its side; glibc defines it only with
        /// _GNU_SOURCE.
        private static let peerHasClosed: Int32 = 0x2000

        func run() {
            let life = ConnectionLife()
            defer {
                life.noteEnd()
                close(socket)
            }
            // Sends the bytes of each step without delay, because a script may pause after any
            // step.
            set(IPPROTO_TCP, TCP_NODELAY, Int32(1))
            do throws(Ended) {
                while let head = try readHead() {
                    guard let request = log.add(head: head, connection: number, life: life)
                    else { return }
                    for step in script.answer(request) { try perform(step, for: request) }
                }
            } catch {
                // Not a failure: every connection ends like this.
            }
        }

        private func perform(_ step: Step, for request: RecordedRequest) throws(Ended) {
            switch step {
            case .sendHead(let bytes):
                try send(bytes)
            case .send(let bytes):
                try send(bytes)
                log.addBodyBytes(bytes.count, to: request)
            case .sendPattern(let content, let range, let rate):
                try send(content, range, bytesPerSecond: rate, for: request)
            case .sendForever(let bytes):
                while true { try send(bytes) }
            case .wait(let gate):
                try wait(at: gate)
            case .open(let gate):
                gate.open()
            case .close:
                throw Ended()
            case .reset:
                try waitUntilAcknowledged()
                set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
                throw Ended()
            case .stall:
                try wait(at: Gate())
            }
        }

        // MARK: Receiving

        /// Returns the head of the next request; nil if the peer closes between two requests.
        private func readHead() throws(Ended) -> [UInt8]? {
            let end = Array("\r\n\r\n".utf8)
            var head: [UInt8] = []
            var byte: UInt8 = 0
            // Byte by byte, so that no byte after the head is read. Tests send small heads.
            while !head.suffix(4).elementsEqual(end) {
                guard head.count < 256 * 1024 else { throw Ended() }
                guard FaultServer.wait(for: socket, POLLIN, orOpen: stopped) else { throw Ended() }
                guard recv(socket, &byte, 1, 0) == 1 else { return nil }
                head.append(byte)
            }
            return head
        }

        // MARK: Sending

        private func send(
            _ content: TestContent,
            _ range: Range<Int64>,
            bytesPerSecond: Int?,
            for request: RecordedRequest
        ) throws(Ended) {
            // A slow body is sent in twenty pieces per second.
            let size = Int64(bytesPerSecond.map { max(1, $0 / 20) } ?? 64 * 1024)
            var offset = range.lowerBound
            while offset < range.upperBound {
                let piece = content.bytes(in: offset..<min(range.upperBound, offset + size))
                try send(piece)
                log.addBodyBytes(piece.count, to: request)
                offset += Int64(piece.count)
                guard let bytesPerSecond else { continue }
                try wait(milliseconds: Int32(clamping: piece.count * 1000 / max(1, bytesPerSecond)))
            }
        }

        private func send(_ bytes: [UInt8]) throws(Ended) {
            var rest = bytes[...]
            while !rest.isEmpty {
                guard FaultServer.wait(for: socket, POLLOUT, orOpen: stopped) else { throw Ended() }
                let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                let sent = rest.withUnsafeBytes { bytes in
                    Glibc.send(socket, bytes.baseAddress, bytes.count, flags)
                }
                if sent < 0, errno == EAGAIN || errno == EINTR { continue }
                guard sent > 0 else { throw Ended() }
                rest = rest.dropFirst(sent)
            }
        }

        // MARK: Waiting

        private func wait(at gate: Gate) throws(Ended) {
            try wait(for: gate.descriptor, milliseconds: -1)
        }

        private func wait(milliseconds: Int32) throws(Ended) {
            try wait(for: -1, milliseconds: milliseconds)
        }

        /// Waits until a descriptor is ready or the time is over; throws if the connection ends
        /// meanwhile.
        private func wait(for descriptor: Int32, milliseconds: Int32) throws(Ended) {
            var entries = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stopped.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket, events: Int16(Self.peerHasClosed), revents: 0),
            ]
            while poll(&entries, 3, milliseconds) < 0, errno == EINTR {}
            guard entries[1].revents == 0, entries[2].revents == 0 else { throw Ended() }
        }

        /// Waits until the peer has acknowledged all bytes, because a reset discards the rest.
        private func waitUntilAcknowledged() throws(Ended) {
            while true {
                var info = tcp_info()
                var length = socklen_t(MemoryLayout<tcp_info>.size)
                guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0,
                    info.tcpi_unacked > 0
                else { return }
                try wait(milliseconds: 1)
            }
        }

        private func set<Value: BitwiseCopyable>(_ level: Int, _ option: Int32, _ value: Value) {
            set(Int32(level), option, value)
        }

        private func set<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) {
            var value = value
            setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Value>.size))
        }
    }
}
