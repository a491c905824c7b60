// SPDX-License-Identifier: Apache-2.0

/// A value that is not copied with what holds it.
///
/// A task's record takes 700 bytes. What a commit has changed is kept, told and shown from one copy,
/// however many tasks that are.
package final class Shared<Value: Sendable>: Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
