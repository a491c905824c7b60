// SPDX-License-Identifier: Apache-2.0

package import DBus

extension Connection {
    /// Exports the manager and all of its tasks; ask for the bus name afterwards.
    ///
    /// - Parameters:
    ///   - handler: Answers the calls.
    ///   - parts: Into how many parts the limits of pending calls are divided for a client, of which
    ///     it has one; asked for each call of a client that has calls waiting.
    /// - Throws: `ObjectPathInUse`; `Disconnected`.
    package func export(
        _ handler: any ManagerHandling,
        partsOfLimits parts: @escaping @Sendable (BusName) -> Int = { _ in 1 }
    ) throws(BusError) {
        var limits = CallLimits()
        limits.error = "org.idown.Error.LimitExceeded"
        limits.parts = parts
        limitCalls(limits)
        try export(TaskInterface.subtree(for: handler), below: TaskPath.parent)
        try export(
            [
                ManagerInterface.table(for: handler), ManagerInterface.settings(for: handler),
                ApplicationInterface.table(for: handler),
                ManagerInterface.objectManager(for: handler),
            ],
            at: Contract.managerPath
        )
    }
}
