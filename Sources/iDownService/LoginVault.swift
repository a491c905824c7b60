// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// Stores the logins of URLs outside of the list of tasks, in the desktop's keyring.
///
/// A login is first durable in the list, before the reply, because a keyring may be locked or slow.
/// Then the login moves into the vault: one item for each distinct set of logins, under a random
/// key, so that no digest is left from which the login could be guessed. The list's write-ahead log
/// is emptied afterwards, because SQLite keeps overwritten pages there. Two tasks that differ only
/// in their logins stay two as long as the keyring can be read.
///
/// The vault never waits for a person: a locked keyring counts as unavailable.
package protocol LoginVault: Sendable {
    /// Whether the keyring can be read and written now.
    var isOpen: Bool { get async }

    /// Stores logins under an id.
    ///
    /// - Returns: whether they are stored.
    func keep(_ logins: URLLogins, at id: String) async -> Bool

    /// Returns the logins that are stored under an id; nil where they cannot be read.
    func urlLogins(keptAt id: String) async -> URLLogins?

    /// The ids under which this service has stored logins.
    var ids: [String] { get async }

    /// Deletes logins; if that fails, their id stays among the ``ids``.
    func forget(_ id: String) async
}
