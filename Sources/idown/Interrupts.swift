// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// A sequence with an element for each Ctrl-C, which then no longer ends the process: signal(7).
struct Interrupts: AsyncSequence, Sendable {
    private let stream: AsyncStream<Void>

    private init(_ stream: AsyncStream<Void>) { self.stream = stream }

    /// Starts the sequence; until this returns, SIGINT still ends the process.
    static func start() async -> Interrupts {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let source = DispatchSource.makeSignalSource(signal: SIGINT)
        // Dispatch replaces the default action. A signal that was ignored before, as in a shell's
        // background job, stays ignored. The handler keeps its source alive until the process ends.
        source.setEventHandler {
            withExtendedLifetime(source) { _ = continuation.yield() }
        }
        // Dispatch installs the handler on its own thread, some time after the activation.
        await withCheckedContinuation { installed in
            source.setRegistrationHandler { installed.resume() }
            source.activate()
        }
        return Interrupts(stream)
    }

    func makeAsyncIterator() -> AsyncStream<Void>.Iterator {
        stream.makeAsyncIterator()
    }
}
