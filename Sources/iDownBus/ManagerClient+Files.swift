// SPDX-License-Identifier: Apache-2.0

public import DBus

extension ManagerClient {
    /// Returns the file of a task, open for reading.
    ///
    /// A partial file has valid bytes only in its ``TaskProperties/segments``. A sandboxed caller
    /// gets a pipe with the bytes of the finished file of its own task.
    ///
    /// - Throws: `NoSuchTask`; `InvalidState` if nothing of the file is on disk; `LimitExceeded`.
    public func openFile(_ id: String) async throws(ManagerError) -> OpenDescriptor {
        try await call(Contract.Method.openFile, id, returning: OpenDescriptor.self)
    }
}
