// SPDX-License-Identifier: Apache-2.0

/// The permanent number of a task: positive, and never given twice.
///
/// On the bus it appears as decimal text, which is a valid element of an object path.
package struct TaskID: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// 1 or more.
    package let rawValue: Int64

    package init?(rawValue: Int64) {
        guard rawValue > 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Reads the canonical decimal form only: no sign, no leading zero, no blanks.
    package init?(_ description: String) {
        guard let number = Int64(description), String(number) == description else { return nil }
        self.init(rawValue: number)
    }

    package var description: String { String(rawValue) }

    package static func < (left: TaskID, right: TaskID) -> Bool { left.rawValue < right.rawValue }
}

/// The number of a transfer within its task: 0 before the first one, one more for each start.
///
/// Each event carries the number of its transfer, so that late events of an older transfer are
/// recognised and dropped.
package struct AttemptNumber: Hashable, Comparable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let none = AttemptNumber(rawValue: 0)

    package var next: AttemptNumber { AttemptNumber(rawValue: rawValue &+ 1) }

    package static func < (left: AttemptNumber, right: AttemptNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}
