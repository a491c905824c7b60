// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The one door through which this room's calls into the file system pass.
///
/// It repeats what a signal interrupted, turns -1 into a thrown ``FileError`` and, with a plan,
/// makes the n-th call fail. Without one the door costs a test for nil.
package final class FileSystem: Sendable {
    let faults: FaultPlan?
    let witness: (any DiskWitness)?
    /// Nobody changes it while the process lives: it is read once.
    let knownUmask = Mutex<mode_t?>(nil)

    package init(faults: FaultPlan? = nil, witness: (any DiskWitness)? = nil) {
        self.faults = faults
        self.witness = witness
    }

    /// Makes one call about a name, which some file systems take in shorter forms only.
    func call<Answer: SignedInteger>(
        _ operation: StaticString,
        on name: String,
        _ body: () -> Answer
    ) throws(FileError) -> Answer {
        if let faults, name.utf8.count > faults.longestName {
            throw .system(ENAMETOOLONG, operation)
        }
        return try call(operation, body)
    }

    /// Makes one call that answers -1 and sets errno where it fails.
    func call<Answer: SignedInteger>(
        _ operation: StaticString,
        _ body: () -> Answer
    ) throws(FileError) -> Answer {
        if let errno = witness?.refusal(of: operation) { throw .system(errno, operation) }
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
