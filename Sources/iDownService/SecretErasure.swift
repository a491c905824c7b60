// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// Empties the log of the list soon after a secret has left a record.
///
/// SQLite overwrites what is deleted (`secure_delete`), but the log beside the database keeps older
/// pages until a checkpoint. What a crash has left there is erased when the list is opened.
final class SecretErasure {
    /// Far below the minute that the contract allows, and one checkpoint for all that ends meanwhile.
    private static let delay: Duration = .seconds(5)

    private var isWanted = false
    /// Nil while the log holds no secret that no record has any more.
    private var worker: Task<Void, Never>?

    /// Takes note of a changed task, which may have lost its cookies or be a private one.
    func note(_ change: Change, in coordinator: isolated Coordinator) {
        guard let before = change.before?.request else { return }
        let isErased = change.effects.contains(.erase)
        let losesCookies =
            before.cookies != nil && (isErased || before.cookies != change.after.request.cookies)
        guard losesCookies || (before.isPrivate && isErased) else { return }
        want(in: coordinator)
    }

    /// Has the log emptied soon.
    func want(in coordinator: isolated Coordinator) {
        isWanted = true
        guard worker == nil, !coordinator.isStopping else { return }
        worker = Task {
            while isWanted, (try? await coordinator.time.sleep(for: Self.delay)) != nil {
                isWanted = false
                do {
                    try await coordinator.store.emptyLog()
                } catch {
                    // Somebody reads the whole list at this moment.
                    isWanted = true
                    coordinator.log.debug("the log of the list cannot be emptied yet: \(error)")
                }
            }
            worker = nil
        }
    }

    /// The service ends: closing the list empties the log.
    func stop() { worker?.cancel() }
}
