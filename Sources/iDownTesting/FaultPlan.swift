// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
package import iDownloader

/// Makes chosen calls into the file system fail, so that a test can try every failure.
package final class FaultPlan: Sendable {
    private let target: ClosedRange<Int>?
    private let operation: String?
    private let fault: DiskFault
    private let runsFull: Bool
    package let longestWrite: Int
    /// The most bytes that a name takes, whatever limit the file system reports.
    private let longestName: Int
    /// Called with the number of each counted call.
    private let hearing: @Sendable (Int) -> Void
    private let counter = Atomic<Int>(0)
    private let hasRunFull = Atomic<Bool>(false)

    /// Chooses the calls that fail.
    ///
    /// - Parameters:
    ///   - n: The number of the first call that fails, counted from 1; nil counts calls and lets
    ///     all pass.
    ///   - operation: The function whose calls are counted; nil counts all calls.
    ///   - errno: The error. EINTR is retried like a real one. After ENOSPC, the next query for
    ///     free bytes gets 0.
    ///   - times: How many calls fail from the n-th on.
    ///   - isMade: Whether the call is made, and its answer lost.
    ///   - longestWrite: The most bytes that one write takes.
    ///   - longestName: The most bytes that a name takes; longer ones fail with ENAMETOOLONG.
    ///   - hearing: Called with the number of each counted call before the call is made; may block.
    package init(
        failing n: Int? = nil,
        of operation: String? = nil,
        with errno: Int32 = EIO,
        times: Int = 1,
        isMade: Bool = false,
        longestWrite: Int = .max,
        longestName: Int = .max,
        hearing: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.target = n.map { $0...($0 + max(times, 1) - 1) }
        self.operation = operation
        self.fault = DiskFault(errno, isMade: isMade)
        self.runsFull = errno == ENOSPC
        self.longestWrite = longestWrite
        self.longestName = longestName
        self.hearing = hearing
    }

    /// The number of calls counted so far, failed ones included.
    package var calls: Int { counter.load(ordering: .relaxed) }
}

extension FaultPlan: DiskObserver {
    /// Counts a call and returns how it fails; nil lets it pass.
    package func fault(of call: StaticString, on name: String) -> DiskFault? {
        if name.utf8.count > longestName { return DiskFault(ENAMETOOLONG) }
        guard operation == nil || operation == "\(call)" else { return nil }
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
        hearing(number)
        guard let target, target.contains(number) else { return nil }
        if runsFull { hasRunFull.store(true, ordering: .relaxed) }
        return fault
    }

    /// True once after a call failed with ENOSPC.
    package var isFull: Bool { hasRunFull.exchange(false, ordering: .relaxed) }

    package func willWrite(_ descriptor: Int32, at offset: Int64, count: Int) {}
    package func willTruncate(_ descriptor: Int32, to length: Int64) {}
    package func didSynchronize(_ descriptor: Int32) {}
    package func didLink(as name: String, in folder: Int32) {}
    package func didRename(_ old: String, as new: String, in folder: Int32) {}
}

extension FileSystem {
    package convenience init(faults: FaultPlan?) { self.init(observer: faults) }
}
