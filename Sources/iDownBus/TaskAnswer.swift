// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// A task as the answer to a call, `a{sv}`.
struct TaskAnswer: BusType {
    static var signature: Signature { TaskProperties.signature }

    let task: TaskProperties

    init(_ task: TaskProperties) { self.task = task }

    init(busValue: Value) throws(DecodingFailure) { task = try TaskProperties(busValue: busValue) }

    var busValue: Value { task.marshalled }
}
