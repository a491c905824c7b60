// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What a child has written so far, and who waits for more of it.
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

    private let state = Mutex(State())

    var standardError: String {
        state.withLock { String(decoding: $0.standardError, as: UTF8.self) }
    }

    var isFinished: Bool {
        state.withLock { $0.isFinished }
    }

    // MARK: The supervisor's side

    func start(_ processIdentifier: Int32) {
        state.withLock { state in
            state.processIdentifier = processIdentifier
            state.startWaiter?.resume(returning: processIdentifier)
            state.startWaiter = nil
        }
    }

    func append(standardOutput bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            for byte in bytes {
                guard byte == UInt8(ascii: "\n") else {
                    state.unfinishedLine.append(byte)
                    continue
                }
                Self.deliver(&state)
            }
        }
    }

    func append(standardError bytes: UnsafeRawBufferPointer) {
        state.withLock { $0.standardError.append(contentsOf: bytes) }
    }

    func finish() {
        state.withLock { state in
            state.isFinished = true
            if !state.unfinishedLine.isEmpty { Self.deliver(&state) }
            state.startWaiter?.resume(returning: nil)
            state.startWaiter = nil
            for waiter in state.lineWaiters { waiter.continuation.resume(returning: nil) }
            state.lineWaiters = []
        }
    }

    private static func deliver(_ state: inout State) {
        let line = String(decoding: state.unfinishedLine, as: UTF8.self)
        state.unfinishedLine.removeAll(keepingCapacity: true)
        if state.lineWaiters.isEmpty {
            state.lines.append(line)
        } else {
            state.lineWaiters.removeFirst().continuation.resume(returning: line)
        }
    }

    // MARK: The test's side

    /// The process id once there is one; nil if the child ended before it had one.
    func started() async -> Int32? {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if state.processIdentifier != nil || state.isFinished {
                    continuation.resume(returning: state.processIdentifier)
                } else {
                    state.startWaiter = continuation
                }
            }
        }
    }

    func nextLine() async -> String? {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if !state.lines.isEmpty {
                        continuation.resume(returning: state.lines.removeFirst())
                    } else if state.isFinished || Task.isCancelled {
                        continuation.resume(returning: nil)
                    } else {
                        state.lineWaiters.append((id, continuation))
                    }
                }
            }
        } onCancel: {
            state.withLock { state in
                guard let index = state.lineWaiters.firstIndex(where: { $0.id == id }) else {
                    return
                }
                state.lineWaiters.remove(at: index).continuation.resume(returning: nil)
            }
        }
    }
}
