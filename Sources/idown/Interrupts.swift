// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// A sequence with an element for each signal that asks the command to end, which then no longer
/// ends the process: signal(7).
struct Interrupts: AsyncSequence, Sendable {
    private let stream: AsyncStream<Int32>

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
            // Dispatch replaces the default action. The handler keeps its source alive until the
            // process ends.
            source.setEventHandler {
                withExtendedLifetime(source) {
                    guard case .terminated = continuation.yield(signal) else { return }
                    // Nobody waits for it any more. Who waits for the end of downloads has a source
                    // of its own for Ctrl-C.
                    if signal != SIGINT { exit(128 + signal) }
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
