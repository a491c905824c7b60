// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// Signals and input of a program that owns the terminal.
struct TerminalSignals {
    enum Sign: Sendable {
        /// There is input; no further input is announced until ``TerminalSignals/resume()``.
        case input
        case resized
        /// The process was stopped and runs again.
        case continued
        case ended(CInt)
    }

    let signs: AsyncStream<Sign>
    private let input: any DispatchSourceRead
    /// Blocks the thread that waits for input until the input was read.
    private let gate: DispatchSemaphore
    private let sources: [any DispatchSourceSignal]

    /// Starts listening; signals that come after the return are caught.
    static func start() async -> TerminalSignals {
        let (signs, continuation) = AsyncStream.makeStream(of: Sign.self)
        let gate = DispatchSemaphore(value: 0)
        let input = DispatchSource.makeReadSource(
            fileDescriptor: STDIN_FILENO,
            queue: DispatchQueue(label: "org.idown.keys")
        )
        input.setEventHandler {
            continuation.yield(.input)
            // Without a wait it would fire again and again until the input is read.
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

    /// Tells that the input was read.
    func resume() {
        gate.signal()
    }

    /// Stops listening.
    func stop() {
        input.cancel()
        for source in sources { source.cancel() }
        gate.signal()
    }
}
