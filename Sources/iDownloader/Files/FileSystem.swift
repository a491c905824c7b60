// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Makes the calls into the file system: all pass through ``call(_:on:_:)``.
///
/// It repeats calls that a signal interrupted and turns -1 into a thrown ``FileError``. A
/// ``DiskObserver`` can make calls fail; without one that costs a test for nil.
package final class FileSystem: Sendable {
    let observer: (any DiskObserver)?

    package init(observer: (any DiskObserver)? = nil) {
        self.observer = observer
        // Read before there are threads that make files.
        _ = Self.umask
    }

    /// Makes one call that returns -1 and sets errno when it fails.
    ///
    /// - Parameters:
    ///   - operation: the name of the function.
    ///   - name: the name that it takes; empty if it takes none.
    ///   - body: makes the call.
    /// - Returns: what the function returns.
    /// - Throws: the errno.
    func call<Answer: SignedInteger>(
        _ operation: StaticString,
        on name: String = "",
        _ body: () -> Answer
    ) throws(FileError) -> Answer {
        while true {
            let fault = observer?.fault(of: operation, on: name)
            if fault?.isMade != false {
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
