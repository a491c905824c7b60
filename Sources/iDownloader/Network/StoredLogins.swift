// SPDX-License-Identifier: Apache-2.0

package import Curl
package import iDownState

/// Gives access to the logins that the user stored for servers.
package protocol StoredLogins: Sendable {
    /// Returns the login for a scheme, host and port; nil if there is none.
    ///
    /// Downloads wait for this, so it answers soon and never asks a person.
    func login(for origin: URLReference.Origin) async -> TransferRequest.Credentials?

    /// Returns whether there is a login for a scheme, host and port that can be read or is locked;
    /// also true if the keyring does not answer.
    func mayHaveLogin(for origin: URLReference.Origin) async -> Bool

    /// Returns the logins that were removed from a task's URLs; nil if they cannot be read now.
    func urlLogins(keptAt id: String) async -> URLLogins?

    /// Returns whether these logins are gone for good, as after the user has deleted them.
    func areGone(keptAt id: String) async -> Bool
}
