// SPDX-License-Identifier: Apache-2.0

/// Holds an immutable value, so that several owners share one copy.
///
/// A task's record takes 700 bytes. The records that a commit changes are kept, announced and shown
/// from one copy each, however many they are.
package final class Shared<Value: Sendable>: Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
