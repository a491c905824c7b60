// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownState
import iDownloader

extension ManagerService {
    /// Opens the file of a task for reading; a sandboxed caller gets a pipe with the file's bytes.
    func openFile(_ call: Call, of id: String) async throws -> OpenDescriptor {
        let id = try await permitted(call, id)
        let owner = await callers.caller(of: call).owner
        let record = try await coordinator.task(id).record
        if owner != nil, record.state != .completed {
            throw Refusal.unfinished(record.state.kind)
        }
        let engine = engine
        let limit = Coordinator.longestLook
        let found = try await coordinator.look(in: record.request.directory, limit) {
            try await engine.open(record, for: owner)
        }
        guard let found else { throw ServiceRefusal.diskIsSilent }
        guard let file = found else {
            throw ManagerError(.invalidState, "Nothing of the task's file is in its folder.")
        }
        return file
    }
}

extension Engine {
    /// Opens a task's file for its owner in a sandbox, or for a caller that may read it anyway.
    fileprivate func open(
        _ record: TaskRecord,
        for owner: String?
    ) async throws -> OpenDescriptor? {
        do {
            let number: Int32?
            if let owner {
                number = try await feedFile(of: record, to: owner)
            } else {
                number = try await openFile(of: record)
            }
            return number.map { OpenDescriptor(owning: $0) }
        } catch let full as FileFeeds.Full {
            throw ManagerError(
                .limitExceeded,
                "Too many files are being read: at most \(full.limit) at a time."
            )
        } catch let error as FileError {
            throw ManagerError(.invalidDestination, error.failure.message)
        } catch {
            throw ManagerError(error)
        }
    }
}
