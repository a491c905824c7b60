// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import iDownState
import iDownTesting

/// A network on which nothing moves by itself: hosts answer, and connections break, when told to.
///
/// Belongs to the queue of the simulation, like all that calls it.
final class SimulatedNetwork: TransferDriver {
    private struct Connection {
        let handle: TransferHandle
        let sink: any TransferSink
        let request: TransferRequest
        let file: Int
        let life: Life
        var isAnswered = false
        var isPaused = false
        var isCancelled = false
        /// The version that the body is of: an open file does not change under its reader.
        var version = 0
        var rest: Range<Int64> = 0..<0
        var status = 0
    }

    private struct State {
        var files: [SimulatedFile] = []
        var connections: [Connection] = []
        var life = Life()
        var isOnline = true
        var isCalm = false
    }

    /// How a step of a connection comes out.
    private enum Outcome {
        case goesOn
        case ended(CurlCode)
    }

    private let state = Mutex(State())

    // MARK: The world's side

    var isOnline: Bool {
        get { state.withLock { $0.isOnline } }
        set { state.withLock { $0.isOnline = newValue } }
    }

    var files: [SimulatedFile] { state.withLock { $0.files } }

    /// No more faults from now on.
    func calmDown() { state.withLock { $0.isCalm = true } }

    /// Connections are made by this run of the service from now on.
    func serve(_ life: Life) { state.withLock { $0.life = life } }

    /// A new file at some host.
    func add(using dice: inout some RandomNumberGenerator) -> SimulatedFile {
        state.withLock { state in
            let file = SimulatedFile(state.files.count, using: &dice)
            state.files.append(file)
            return file
        }
    }

    /// Another file of the same length takes the place of this one.
    func replace(_ number: Int) { state.withLock { $0.files[number].version += 1 } }

    /// Whether anything can move.
    var canStep: Bool {
        state.withLock { $0.connections.contains { !$0.isPaused || $0.isCancelled } }
    }

    /// How many connections are open for each file.
    var open: [Int: Int] {
        state.withLock { state in
            state.connections.reduce(into: [:]) { $0[$1.file, default: 0] += 1 }
        }
    }

    /// Moves one connection on.
    func step(using dice: inout some RandomNumberGenerator) {
        let chosen = state.withLock { state in
            state.connections.filter { !$0.isPaused || $0.isCancelled }.randomElement(using: &dice)
        }
        guard let chosen else { return }
        switch advance(chosen, using: &dice) {
        case .goesOn: break
        case .ended(let code): end(chosen.handle, code)
        }
    }

    /// All connections of a process that is gone.
    func abandon(_ life: Life) {
        let orphans = state.withLock { state in state.connections.filter { $0.life === life } }
        for orphan in orphans { end(orphan.handle, .aborted) }
    }

    // MARK: TransferDriver

    func begin(_ request: TransferRequest, sink: any TransferSink) -> TransferHandle {
        let handle = TransferHandle(driver: self)
        let life = state.withLock { $0.life }
        guard life.ask(), let number = Int(request.url.path.dropFirst(2)) else {
            handle.settle(TransferOutcome(.aborted, "dead"))
            return handle
        }
        state.withLock { state in
            state.connections.append(
                Connection(handle: handle, sink: sink, request: request, file: number, life: life)
            )
        }
        return handle
    }

    func resume(_ handle: TransferHandle) { change(handle) { $0.isPaused = false } }

    func cancel(_ handle: TransferHandle) { change(handle) { $0.isCancelled = true } }

    // MARK: One connection

    private func change(_ handle: TransferHandle, _ body: (inout Connection) -> Void) {
        state.withLock { state in
            guard let place = state.connections.firstIndex(where: { $0.handle === handle }) else {
                return
            }
            body(&state.connections[place])
        }
    }

    private func end(_ handle: TransferHandle, _ code: CurlCode) {
        let ended = state.withLock { state -> Connection? in
            guard let place = state.connections.firstIndex(where: { $0.handle === handle }) else {
                return nil
            }
            return state.connections.remove(at: place)
        }
        guard let ended else { return }
        var outcome = TransferOutcome(code, code == .ok ? "" : "simulated")
        outcome.status = ended.status
        outcome.primaryAddress = "192.0.2.7"
        handle.settle(outcome)
    }

    private func advance(
        _ connection: Connection,
        using dice: inout some RandomNumberGenerator
    ) -> Outcome {
        let (isOnline, isCalm) = state.withLock { ($0.isOnline, $0.isCalm) }
        let chance = isCalm ? 100 : Int.random(in: 0..<100, using: &dice)
        // What is on its way when somebody cancels may still arrive.
        if connection.isCancelled, chance > 30 { return .ended(.aborted) }
        guard isOnline else {
            return .ended(connection.isAnswered ? .receiveError : .couldNotResolveHost)
        }
        guard connection.isAnswered else {
            if chance < 4 { return .ended(.couldNotConnect) }
            return answer(connection, chance)
        }
        if chance < 3 { return .ended(.receiveError) }
        if chance < 5 { return .ended(connection.rest.isEmpty ? .ok : .partialFile) }
        return bring(connection, using: &dice)
    }

    private func answer(_ connection: Connection, _ chance: Int) -> Outcome {
        let ifRange = connection.request.headers.first { $0.name == "If-Range" }?.value
        var (lines, body): ([String], Range<Int64>)
        switch chance {
        case 4..<7:
            (lines, body) = (["HTTP/1.1 503 Busy", "Retry-After: \(chance)", ""], 0..<0)
        case 7..<9:
            (lines, body) = (["HTTP/1.1 500 Broken", "Content-Length: 0", ""], 0..<0)
        default:
            (lines, body) = state.withLock { state in
                state.files[connection.file].answer(
                    range: connection.request.range,
                    ifRange: ifRange
                )
            }
        }
        change(connection.handle) { change in
            change.isAnswered = true
            change.rest = body
            change.status = Int(lines[0].dropFirst(9).prefix(3)) ?? 0
        }
        state.withLock { state in
            let version = state.files[connection.file].version
            let place = state.connections.firstIndex { $0.handle === connection.handle }
            if let place { state.connections[place].version = version }
        }
        for line in lines {
            let isTaken = Array("\(line)\r\n".utf8).withUnsafeBytes {
                connection.sink.receive(headerLine: $0)
            }
            if !isTaken { return .ended(.writeError) }
        }
        return body.isEmpty ? .ended(.ok) : .goesOn
    }

    /// Brings up to half a megabyte of the body, in pieces as libcurl hands them out.
    private func bring(
        _ connection: Connection,
        using dice: inout some RandomNumberGenerator
    ) -> Outcome {
        let file = state.withLock { $0.files[connection.file] }
        var rest = connection.rest
        var left = Int64.random(
            in: 1...(1 << Int64.random(in: 10...19, using: &dice)),
            using: &dice
        )
        var isKept = false
        while !rest.isEmpty, left > 0 {
            let count = min(Int64(rest.count), left, 1 << 16)
            let verdict = file.withBytes(
                of: connection.version,
                from: rest.lowerBound,
                count: Int(count)
            ) { connection.sink.receive(body: $0) }
            isKept = verdict == .kept
            switch verdict {
            case .taken, .kept:
                rest = (rest.lowerBound + count)..<rest.upperBound
                left -= count
                change(connection.handle) { change in
                    change.rest = rest
                }
            case .pause:
                change(connection.handle) { $0.isPaused = true }
                return .goesOn
            case .abort:
                return .ended(.writeError)
            }
        }
        guard !rest.isEmpty else { return .ended(.ok) }
        if isKept { connection.sink.bodyPauses() }
        return .goesOn
    }
}
