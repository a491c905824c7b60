// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Makes calls into the file system fail, so that a test can walk through every failure.
package final class FaultPlan: Sendable {
    /// What becomes of the call that is chosen.
    package enum Manner: Sendable {
        /// It is not made.
        case refused
        /// It is made, and its answer is lost: what a network file system does now and then.
        case answerLost
    }

    private let target: ClosedRange<Int>?
    private let operation: String?
    private let errno: Int32
    private let manner: Manner
    /// No write takes more bytes than this: the kernel may cut any of them short.
    let longestWrite: Int
    /// No name takes more bytes than this, whatever the file system says of itself.
    let longestName: Int
    /// Hears of each call that counts, by its number.
    private let hearing: @Sendable (Int) -> Void
    private let counter = Atomic<Int>(0)
    private let isFull = Atomic<Bool>(false)

    /// Chooses the calls that fail.
    ///
    /// - Parameters:
    ///   - n: Which call fails, counted from 1; nil counts and lets all calls pass.
    ///   - operation: The function whose calls count; nil for every one.
    ///   - errno: What it fails with; EINTR is repeated as a real one is, and a disk that says
    ///     ENOSPC shows no room to the next who asks.
    ///   - times: How many calls fail from the n-th on.
    ///   - manner: Whether the call is made all the same.
    ///   - longestWrite: The most bytes that one write takes.
    ///   - longestName: The most bytes that a name takes; longer ones fail with ENAMETOOLONG.
    ///   - hearing: Hears of each call that counts, by its number and before it is made; may block.
    package init(
        failing n: Int? = nil,
        of operation: String? = nil,
        with errno: Int32 = EIO,
        times: Int = 1,
        manner: Manner = .refused,
        longestWrite: Int = .max,
        longestName: Int = .max,
        hearing: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.target = n.map { $0...($0 + max(times, 1) - 1) }
        self.operation = operation
        self.errno = errno
        self.manner = manner
        self.longestWrite = longestWrite
        self.longestName = longestName
        self.hearing = hearing
    }

    /// How many calls have come by, the failed ones included.
    package var calls: Int { counter.load(ordering: .relaxed) }

    /// Counts a call; says how it fails if it is chosen.
    func next(_ call: StaticString) -> (errno: Int32, manner: Manner)? {
        guard operation == nil || operation == "\(call)" else { return nil }
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
        hearing(number)
        guard let target, target.contains(number) else { return nil }
        if errno == ENOSPC { isFull.store(true, ordering: .relaxed) }
        return (errno, manner)
    }

    /// Whether the disk shows no room to whoever asks now.
    func takeFullness() -> Bool { isFull.exchange(false, ordering: .relaxed) }
}
