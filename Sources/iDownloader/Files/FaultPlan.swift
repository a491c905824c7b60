// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Makes chosen calls into the file system fail, so that a test can try every failure.
package final class FaultPlan: Sendable {
    /// How the chosen call fails.
    package enum Manner: Sendable {
        /// The call is not made.
        case refused
        /// The call is made and its result is lost, as can happen on a network file system.
        case answerLost
    }

    private let target: ClosedRange<Int>?
    private let operation: String?
    private let errno: Int32
    private let manner: Manner
    /// The most bytes that one write takes: the kernel may cut any write short.
    let longestWrite: Int
    /// The most bytes that a name takes, whatever limit the file system reports.
    let longestName: Int
    /// Called with the number of each counted call.
    private let hearing: @Sendable (Int) -> Void
    private let counter = Atomic<Int>(0)
    private let isFull = Atomic<Bool>(false)

    /// Chooses the calls that fail.
    ///
    /// - Parameters:
    ///   - n: The number of the first call that fails, counted from 1; nil counts calls and lets
    ///     all pass.
    ///   - operation: The function whose calls are counted; nil counts all calls.
    ///   - errno: The error. EINTR is retried like a real one. After ENOSPC, the next query for
    ///     free bytes gets 0.
    ///   - times: How many calls fail from the n-th on.
    ///   - manner: Whether the call is still made.
    ///   - longestWrite: The most bytes that one write takes.
    ///   - longestName: The most bytes that a name takes; longer ones fail with ENAMETOOLONG.
    ///   - hearing: Called with the number of each counted call before the call is made; may block.
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

    /// The number of calls counted so far, failed ones included.
    package var calls: Int { counter.load(ordering: .relaxed) }

    /// Counts a call and returns how it fails; nil lets it pass.
    func next(_ call: StaticString) -> (errno: Int32, manner: Manner)? {
        guard operation == nil || operation == "\(call)" else { return nil }
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
        hearing(number)
        guard let target, target.contains(number) else { return nil }
        if errno == ENOSPC { isFull.store(true, ordering: .relaxed) }
        return (errno, manner)
    }

    /// Returns true once after a call failed with ENOSPC: the disk then reports no free bytes.
    func takeFullness() -> Bool { isFull.exchange(false, ordering: .relaxed) }
}
