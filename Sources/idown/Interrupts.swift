// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// Ctrl-C as a sequence, in place of the end of the process: signal(7).
struct Interrupts: AsyncSequence, Sendable {
    private let stream: AsyncStream<Void>

    private init(_ stream: AsyncStream<Void>) { self.stream = stream }

    /// From the return on SIGINT comes here; until then it ends the process.
    static func start() async -> Interrupts {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let source = DispatchSource.makeSignalSource(signal: SIGINT)
        // Dispatch takes the place of the default action by itself; an ignored signal, as a shell's
        // background job inherits it, stays ignored. The handler keeps its own source alive: it
        // serves to the end of the process.
        source.setEventHandler {
            withExtendedLifetime(source) { _ = continuation.yield() }
        }
        // Dispatch installs its handler on a thread of its own, some time after the activation.
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
