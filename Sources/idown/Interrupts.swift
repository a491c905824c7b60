// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// A sequence with an element for each signal that asks the command to end, which then no longer
/// ends the process: signal(7).
struct Interrupts: AsyncSequence, Sendable {
    private let stream: AsyncStream<Int32>
    /// How many sources each signal has had.
    private static let counts = Mutex<[Int32: Int]>([:])

    private init(_ stream: AsyncStream<Int32>) { self.stream = stream }

    /// Starts the sequence; until this returns, the signals still end the process.
    ///
    /// - Parameter signals: SIGINT (Ctrl-C), and others that are to be elements. One that was ignored
    ///   before, as in a shell's background job, stays ignored.
    /// - Returns: The sequence, which never ends.
    static func start(_ signals: Int32...) async -> Interrupts {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        for signal in signals where !isIgnored(signal) {
            let source = DispatchSource.makeSignalSource(signal: signal)
            let number = counts.withLock { counts in
                counts[signal, default: 0] += 1
                return counts[signal]
            }
            // Dispatch replaces the default action. The handler keeps its source alive until the
            // process ends.
            source.setEventHandler {
                withExtendedLifetime(source) {
                    guard case .terminated = continuation.yield(signal) else { return }
                    // Nobody waits for it any more, unless a later sequence does.
                    if counts.withLock({ $0[signal] }) == number { exit(128 + signal) }
                }
            }
            // Dispatch installs the handler on its own thread, some time after the activation.
            await withCheckedContinuation { installed in
                source.setRegistrationHandler { installed.resume() }
                source.activate()
            }
        }
        return Interrupts(stream)
    }

    /// sigaction(2).
    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    func makeAsyncIterator() -> AsyncStream<Int32>.Iterator {
        stream.makeAsyncIterator()
    }
}
