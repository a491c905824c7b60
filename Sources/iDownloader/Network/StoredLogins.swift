// SPDX-License-Identifier: Apache-2.0

package import Curl
package import iDownState

/// Knows the logins that the user keeps for servers.
package protocol StoredLogins: Sendable {
    /// The login for a scheme, host and port; nil where there is none.
    ///
    /// A download waits for the answer: it comes soon, and never waits for a person.
    func login(for origin: URLReference.Origin) async -> TransferRequest.Credentials?

    /// Whether there is a login for a scheme, host and port that cannot be read now.
    func isLoginLocked(for origin: URLReference.Origin) async -> Bool

    /// The logins that were taken out of a task's URLs; nil where they cannot be read now.
    func urlLogins(keptAt id: String) async -> URLLogins?
}
