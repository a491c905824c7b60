// SPDX-License-Identifier: Apache-2.0

/// Does work on a thread for tasks, because the caller's executor has others to serve meanwhile.
@concurrent
package func aside<Value: Sendable>(_ work: @Sendable () throws -> Value) async throws -> Value {
    try work()
}
