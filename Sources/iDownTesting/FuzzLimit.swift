// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// Ends a process that reads hostile bytes: when one input takes too long, and when its time is over.
///
/// It looks once a second, from another thread. An input is counted by looks and not by the clock,
/// so that a process that was stopped, or that others leave nothing of the processor, is not to
/// blame.
package final class FuzzLimit: Sendable {
    /// How often in a row the same input was being read.
    package struct Looks: Sendable {
        /// An input that is read at more looks in a row takes too long.
        package static let most = 30
        private var input: UInt64 = 0
        private var count = 0

        package init() {}

        /// Looks once more.
        ///
        /// - Parameter current: the number of the input that is being read, 0 for none.
        /// - Returns: whether it takes too long.
        package mutating func look(at current: UInt64) -> Bool {
            count = current != 0 && current == input ? count + 1 : 1
            input = current
            return current != 0 && count > Self.most
        }
    }

    /// The input that is read, by its number from 1 on; 0 between two of them.
    private let current = Atomic<UInt64>(0)
    private let count = Atomic<UInt64>(0)
    private let seconds: UInt64?
    private let interval: DispatchTimeInterval
    private let queue = DispatchQueue(label: "idown.fuzz.limit")
    private let atStall: @Sendable () -> Void
    private let atEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - seconds: of processor time that the process has, nil without a limit.
    ///   - interval: between two looks, in milliseconds.
    ///   - atStall: what happens over an input that takes too long. By itself the process ends,
    ///     which libFuzzer answers by writing the input down.
    ///   - atEnd: what happens when the time is over. By itself it is SIGUSR1, at which libFuzzer
    ///     tells what it did and exits with 0.
    package init(
        seconds: UInt64? = nil,
        interval: Int = 1_000,
        atStall: @escaping @Sendable () -> Void = { fatalError("an input takes too long") },
        atEnd: @escaping @Sendable () -> Void = { kill(getpid(), SIGUSR1) }
    ) {
        self.seconds = seconds
        self.interval = .milliseconds(interval)
        self.atStall = atStall
        self.atEnd = atEnd
        look(after: Looks())
    }

    /// Says that the next input is read from now on.
    package func begin() {
        current.store(count.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
    }

    /// Says that the input has been read.
    package func end() { current.store(0, ordering: .relaxed) }

    /// What the process has used so far (clock_gettime(2)).
    package static func processorSeconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec)
    }

    /// Looks after the interval, and again after that, for as long as this is in use.
    private func look(after looks: Looks) {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self else { return }
            var looks = looks
            if looks.look(at: current.load(ordering: .relaxed)) { return atStall() }
            if let seconds, Self.processorSeconds() >= seconds { return atEnd() }
            look(after: looks)
        }
    }
}
