// SPDX-License-Identifier: Apache-2.0

package import Curl

/// Knows the logins that the user keeps for servers.
package protocol StoredLogins: Sendable {
    /// The login for a scheme, host and port; nil where there is none.
    ///
    /// A download waits for the answer: it comes soon, and never waits for a person.
    func login(for origin: URLReference.Origin) async -> TransferRequest.Credentials?
}
