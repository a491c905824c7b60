// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// Runs calls that may never return, such as those into a disk that hangs, each on its own thread.
///
/// A thread whose call does not return is left behind until the command ends.
enum TimeLimit {
    /// The longest wait for a disk; most of those that stood still turn within this time.
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
}
