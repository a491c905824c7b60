// SPDX-License-Identifier: Apache-2.0

internal import DBus

extension ManagerClient {
    /// Whether the service runs now; asking does not start it.
    public func isRunning() async throws(ManagerError) -> Bool {
        do {
            _ = try await asking { () throws(BusError) in
                try await manager.connection.owner(of: Contract.busName)
            }
            return true
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
            return false
        }
    }

    /// The service's process number, for people; nil where the service does not run.
    ///
    /// Asking does not start it.
    public func processID() async throws(ManagerError) -> UInt32? {
        do {
            return try await asking { () throws(BusError) in
                try await manager.connection.processID(of: Contract.busName)
            }
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
            return nil
        }
    }

    /// Whether the bus knows how to start the service.
    public func isActivatable() async throws(ManagerError) -> Bool {
        try await asking { () throws(BusError) in
            try await manager.connection.isActivatable(Contract.busName)
        }
    }
}
