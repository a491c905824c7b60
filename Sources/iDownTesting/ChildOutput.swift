// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The output of a child so far, and the tasks that wait for more of it.
final class ChildOutput: Sendable {
    private struct State {
        var processIdentifier: Int32?
        var startWaiter: CheckedContinuation<Int32?, Never>?
        var lines: [String] = []
        var unfinishedLine: [UInt8] = []
        var lineWaiters: [(id: Int, continuation: CheckedContinuation<String?, Never>)] = []
        var nextWaiter = 0
        var standardError: [UInt8] = []
        var isFinished = false
    }

    private typealias LineWaiter = CheckedContinuation<String?, Never>

    /// Continuations are resumed outside the lock, because the cancellation of a wait takes it too.
    private let state = Mutex(State())

    var standardError: String {
        state.withLock { String(decoding: $0.standardError, as: UTF8.self) }
    }

    var isFinished: Bool {
        state.withLock { $0.isFinished }
    }

    // MARK: The supervisor's side

    func start(_ processIdentifier: Int32) {
        let waiter = state.withLock { state in
            state.processIdentifier = processIdentifier
            return state.startWaiter.take()
        }
        waiter?.resume(returning: processIdentifier)
    }

    func append(standardOutput bytes: UnsafeRawBufferPointer) {
        let deliveries = state.withLock { state in
            var deliveries: [(LineWaiter, String)] = []
            for byte in bytes {
                guard byte == UInt8(ascii: "\n") else {
                    state.unfinishedLine.append(byte)
                    continue
                }
                if let delivery = Self.endLine(&state) { deliveries.append(delivery) }
            }
            return deliveries
        }
        for (waiter, line) in deliveries { waiter.resume(returning: line) }
    }

    func append(standardError bytes: UnsafeRawBufferPointer) {
        state.withLock { $0.standardError.append(contentsOf: bytes) }
    }

    func finish() {
        let (last, starting, waiters) = state.withLock { state in
            state.isFinished = true
            let last = state.unfinishedLine.isEmpty ? nil : Self.endLine(&state)
            defer { state.lineWaiters = [] }
            return (last, state.startWaiter.take(), state.lineWaiters.map(\.continuation))
        }
        if let (waiter, line) = last { waiter.resume(returning: line) }
        starting?.resume(returning: nil)
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    /// Completes the line; returns it with the first waiter, or keeps it and returns nil.
    private static func endLine(_ state: inout State) -> (LineWaiter, String)? {
        let line = String(decoding: state.unfinishedLine, as: UTF8.self)
        state.unfinishedLine.removeAll(keepingCapacity: true)
        guard state.lineWaiters.isEmpty else {
            return (state.lineWaiters.removeFirst().continuation, line)
        }
        state.lines.append(line)
        return nil
    }

    // MARK: The test's side

    /// Returns the process id once there is one; nil if the child ended before.
    func started() async -> Int32? {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Int32?? in
                if state.processIdentifier != nil || state.isFinished {
                    return .some(state.processIdentifier)
                }
                state.startWaiter = continuation
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    func nextLine() async -> String? {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> String?? in
                    if !state.lines.isEmpty { return state.lines.removeFirst() }
                    if state.isFinished || Task.isCancelled { return .some(nil) }
                    state.lineWaiters.append((id, continuation))
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> LineWaiter? in
                guard let index = state.lineWaiters.firstIndex(where: { $0.id == id }) else {
                    return nil
                }
                return state.lineWaiters.remove(at: index).continuation
            }
            waiter?.resume(returning: nil)
        }
    }
}
