// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// What comes to a program that owns the terminal: keys to read, a new size, a request to end.
struct TerminalSignals {
    enum Sign: Sendable {
        /// There is something to read; nothing more is told until ``TerminalSignals/resume()``.
        case input
        case resized
        /// The process was stopped, and runs again.
        case continued
        case ended(CInt)
    }

    let signs: AsyncStream<Sign>
    private let input: any DispatchSourceRead
    /// Holds the thread that waits for input, and only it, until somebody has read.
    private let gate: DispatchSemaphore
    private let sources: [any DispatchSourceSignal]

    /// From the return on these signals come here.
    static func start() async -> TerminalSignals {
        let (signs, continuation) = AsyncStream.makeStream(of: Sign.self)
        let gate = DispatchSemaphore(value: 0)
        let input = DispatchSource.makeReadSource(
            fileDescriptor: STDIN_FILENO,
            queue: DispatchQueue(label: "org.idown.keys")
        )
        input.setEventHandler {
            continuation.yield(.input)
            // It would be told again and again until somebody reads.
            gate.wait()
        }
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGWINCH, SIGCONT, SIGINT, SIGQUIT, SIGTERM, SIGHUP] {
            let source = DispatchSource.makeSignalSource(signal: number)
            let sign: Sign =
                switch number {
                case SIGWINCH: .resized
                case SIGCONT: .continued
                default: .ended(number)
                }
            source.setEventHandler { continuation.yield(sign) }
            await withCheckedContinuation { installed in
                source.setRegistrationHandler { installed.resume() }
                source.activate()
            }
            sources.append(source)
        }
        input.activate()
        return TerminalSignals(signs: signs, input: input, gate: gate, sources: sources)
    }

    /// What was there has been read.
    func resume() {
        gate.signal()
    }

    /// Tells nothing more.
    func stop() {
        input.cancel()
        for source in sources { source.cancel() }
        gate.signal()
    }
}
