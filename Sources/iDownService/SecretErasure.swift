// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// Empties the list's write-ahead log soon after a secret has left a record.
///
/// SQLite overwrites what is deleted (`secure_delete`), but the log beside the database keeps older
/// pages until a checkpoint. Opening the list erases what a crash has left there.
final class SecretErasure {
    /// Far below the minute that the contract allows; one checkpoint serves all tasks that end
    /// meanwhile.
    private static let delay: Duration = .seconds(5)

    private let emptying = WantedWork()

    /// Notes a changed task, which may have lost its cookies or have been a private one.
    func note(_ change: Change, in coordinator: isolated Coordinator) {
        guard let before = change.before?.request else { return }
        let isErased = change.effects.contains(.erase)
        let losesCookies =
            before.cookies != nil && (isErased || before.cookies != change.after.request.cookies)
        guard losesCookies || (before.isPrivate && isErased) else { return }
        want(in: coordinator)
    }

    /// Has the log emptied after the delay.
    func want(in coordinator: isolated Coordinator) {
        emptying.want(after: Self.delay, in: coordinator) { [self] in
            do {
                try await coordinator.store.emptyLog()
            } catch {
                // Somebody is reading the whole list: try again later.
                want(in: coordinator)
                coordinator.log.debug("the log of the list cannot be emptied yet: \(error)")
            }
        }
    }

    /// Stops the wait, because the service ends and closing the list empties the log.
    func stop() { emptying.stop() }
}
