// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// Keeps the logins of URLs outside of the list of tasks, in the desktop's keyring.
///
/// A login is durable in the list before the reply, because a keyring may be locked or slow. Then
/// it moves here: one item for each distinct set of logins, under a random key, so that no digest
/// is left from which the login could be guessed. The list's log of changes is emptied afterwards,
/// because SQLite keeps there what was overwritten. Two tasks that differ only in their logins stay
/// two as long as the keyring can be read.
///
/// The vault never waits for a person: a locked keyring counts as none.
package protocol LoginVault: Sendable {
    /// Whether it can be read and written now.
    var isOpen: Bool { get async }

    /// Keeps logins.
    ///
    /// - Returns: whether they are kept.
    func keep(_ logins: URLLogins, at id: String) async -> Bool

    /// What is kept; nil where it cannot be read.
    func urlLogins(keptAt id: String) async -> URLLogins?

    /// What this service keeps there.
    var ids: [String] { get async }

    /// Forgets logins; where that cannot be done they stay among the ``ids``.
    func forget(_ id: String) async
}
