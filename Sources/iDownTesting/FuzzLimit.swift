// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// Ends a fuzzing process when one input takes too long, or when its processor time is used up.
///
/// It checks once a second on another thread. It counts the checks of an input instead of using the
/// clock, so that a process which was stopped or got no processor time is not ended.
package final class FuzzLimit: Sendable {
    /// Counts how many checks in a row have found the same input.
    package struct Looks: Sendable {
        /// An input that is found by more checks in a row than this takes too long.
        package static let most = 30
        private var input: UInt64 = 0
        private var count = 0

        package init() {}

        /// Counts one check.
        ///
        /// - Parameter current: The number of the input that is being read; 0 for none.
        /// - Returns: Whether the input takes too long.
        package mutating func look(at current: UInt64) -> Bool {
            count = current != 0 && current == input ? count + 1 : 1
            input = current
            return current != 0 && count > Self.most
        }
    }

    /// The number of the input that is being read, counted from 1; 0 between two inputs.
    private let current = Atomic<UInt64>(0)
    private let count = Atomic<UInt64>(0)
    private let seconds: UInt64?
    private let interval: DispatchTimeInterval
    private let queue = DispatchQueue(label: "idown.fuzz.limit")
    private let atStall: @Sendable () -> Void
    private let atEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - seconds: The processor time of the process; nil for no limit.
    ///   - interval: The time between two checks, in milliseconds.
    ///   - atStall: Called if an input takes too long; by default ends the process, and libFuzzer
    ///     writes the input to a file.
    ///   - atEnd: Called when the time is used up; by default sends SIGUSR1, at which libFuzzer
    ///     prints its results and exits with 0.
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

    /// Takes note that the next input is being read.
    package func begin() {
        current.store(count.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
    }

    /// Takes note that the input has been read.
    package func end() { current.store(0, ordering: .relaxed) }

    /// Returns the processor time that the process has used, in seconds: clock_gettime(2).
    package static func processorSeconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec)
    }

    /// Checks after each interval while this object exists.
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
