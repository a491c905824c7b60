// SPDX-License-Identifier: Apache-2.0

package import DBus

extension Connection {
    /// Exports the manager and all of its tasks; ask for the bus name afterwards.
    ///
    /// - Parameter handler: Answers the calls.
    /// - Throws: `ObjectPathInUse`; `Disconnected`.
    package func export(_ handler: any ManagerHandling) throws(BusError) {
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
