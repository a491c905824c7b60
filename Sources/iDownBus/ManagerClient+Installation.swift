// SPDX-License-Identifier: Apache-2.0

internal import DBus

extension ManagerClient {
    /// Returns whether the service is running; does not start it.
    public func isRunning() async throws(ManagerError) -> Bool {
        try await asking { () throws(BusError) in try await manager.owner } != nil
    }

    /// Returns the service's process id, for people; nil if the service does not run.
    ///
    /// This does not start the service.
    public func processID() async throws(ManagerError) -> UInt32? {
        try await asking { () throws(BusError) in
            try await manager.connection.processID(of: Contract.busName)
        }
    }

    /// Returns whether the bus can start the service.
    public func isActivatable() async throws(ManagerError) -> Bool {
        try await asking { () throws(BusError) in
            try await manager.connection.isActivatable(Contract.busName)
        }
    }
}
