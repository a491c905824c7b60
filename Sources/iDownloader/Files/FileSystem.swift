// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Makes the calls into the file system: all pass through ``call(_:on:_:)``.
///
/// It repeats calls that a signal interrupted and turns -1 into a thrown ``FileError``. With a
/// ``FaultPlan`` it makes the n-th call fail; without one that costs a test for nil.
package final class FileSystem: Sendable {
    let faults: FaultPlan?
    let observer: (any DiskObserver)?

    package init(faults: FaultPlan? = nil, observer: (any DiskObserver)? = nil) {
        self.faults = faults
        self.observer = observer
        // Read before there are threads that make files.
        _ = Self.umask
    }

    /// Makes one call that returns -1 and sets errno when it fails.
    ///
    /// - Parameters:
    ///   - operation: the name of the function.
    ///   - name: the name that it takes, if it takes one: a fault plan may allow shorter ones only.
    ///   - body: makes the call.
    /// - Returns: what the function returns.
    /// - Throws: the errno; ENAMETOOLONG for a name that the fault plan does not allow.
    func call<Answer: SignedInteger>(
        _ operation: StaticString,
        on name: String = "",
        _ body: () -> Answer
    ) throws(FileError) -> Answer {
        if let faults, name.utf8.count > faults.longestName {
            throw .system(ENAMETOOLONG, operation)
        }
        if let errno = observer?.refusal(of: operation) { throw .system(errno, operation) }
        while true {
            let fault = faults?.next(operation)
            if fault == nil || fault?.manner == .answerLost {
                let answer = body()
                if answer == -1 {
                    let code = errno
                    if code == EINTR { continue }
                    throw .system(code, operation)
                }
                if fault == nil { return answer }
            }
            guard let fault, fault.errno != EINTR else { continue }
            throw .system(fault.errno, operation)
        }
    }
}
