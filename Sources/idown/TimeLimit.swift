// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// Runs calls that may never return, such as those into a disk that hangs, each on its own thread.
///
/// A thread whose call does not return is left behind until the command ends.
enum TimeLimit {
    /// What messages say of a disk that did not answer.
    static let noAnswer = "its disk does not answer"

    /// The longest wait for a disk; one that stood still turns within this time.
    private static let patience: Duration = .seconds(10)

    private final class Results<Value: Sendable>: Sendable {
        let values: Mutex<[Value?]>

        init(count: Int) { values = Mutex(Array(repeating: nil, count: count)) }
    }

    /// Runs all bodies at once; returns what each returns, nil where it takes longer than `limit`.
    static func run<Value: Sendable>(
        _ bodies: [@Sendable () -> Value],
        atMost limit: Duration = patience
    ) -> [Value?] {
        let results = Results<Value>(count: bodies.count)
        let group = DispatchGroup()
        for (place, body) in bodies.enumerated() {
            DispatchQueue(label: "org.idown.call").async(group: group) {
                let value = body()
                results.values.withLock { $0[place] = value }
            }
        }
        _ = group.wait(timeout: .now() + .milliseconds(Int(limit / .milliseconds(1))))
        return results.values.withLock(\.self)
    }

    /// Runs one body; returns nil where it takes longer than `limit`.
    static func run<Value: Sendable>(
        atMost limit: Duration = patience,
        _ body: @escaping @Sendable () -> Value
    ) -> Value? { run([body], atMost: limit)[0] }

    /// The paths whose disk did not answer: nobody waits for one of them again.
    private static let silent = Mutex<Set<String>>([])

    /// Returns whether the disk of a file or a folder answers: open(2), pread(2).
    ///
    /// A pipe is not opened, because its writer may take as long as it likes.
    static func diskAnswers(_ path: String) -> Bool {
        guard !silent.withLock({ $0.contains(path) }) else { return false }
        let answer = run {
            var status = stat()
            guard stat(path, &status) == 0 else { return true }
            guard [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else { return true }
            let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            var byte: UInt8 = 0
            pread(file, &byte, 1, 0)
            close(file)
            return true
        }
        if answer == nil { silent.withLock { _ = $0.insert(path) } }
        return answer != nil
    }

    /// Returns whether there is something at a path: access(2); false where the disk does not answer.
    static func exists(_ path: String) -> Bool { run { access(path, F_OK) == 0 } == true }
}
