// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import Secrets
import iDownloader

/// The logins in the desktop's keyring, while one runs.
///
/// The service never starts a keyring, which may ask for a password, and never waits for one that
/// is locked or does not answer.
actor Keyring: StoredLogins {
    private struct Link {
        let connection: Connection
        let logins: KeptLogins
        /// Follows the keyring's comings and goings; ends with the connection.
        let presence: Task<Void, Never>
    }

    /// A keyring answers in milliseconds.
    private static let patience: Duration = .seconds(1)
    /// One that did not is left alone for so long, and downloads go on without.
    private static let rest: Duration = .seconds(60)

    private var link: Link?
    private var isPresent = false
    private var restsUntil: ContinuousClock.Instant = .now

    func login(for origin: URLReference.Origin) async -> TransferRequest.Credentials? {
        guard let port = origin.port, let link = await connect(), isPresent,
            ContinuousClock.now >= restsUntil
        else { return nil }
        let server = KeptLogins.Server(scheme: origin.scheme, host: origin.host, port: port)
        do {
            let login = try await link.logins.login(for: server)
            return login.map { .init(user: $0.user, password: $0.password) }
        } catch {
            if error.name == "org.freedesktop.DBus.Error.NoReply" {
                restsUntil = .now + Self.rest
            }
            return nil
        }
    }

    /// Ends the connection to the bus.
    func close() async {
        guard let link else { return }
        self.link = nil
        link.presence.cancel()
        await link.connection.close()
    }

    private func connect() async -> Link? {
        if let link { return link }
        guard let connection = try? await Connection.open(BusAddress.session.ofAnyRun),
            let changes = try? await connection.signals(
                MatchRule(
                    sender: .bus,
                    interface: "org.freedesktop.DBus",
                    member: "NameOwnerChanged",
                    arguments: [0: SecretService.name.rawValue]
                )
            )
        else { return nil }
        let isPresent = (try? await connection.owner(of: SecretService.name)) != nil
        // Another download may have been faster.
        if let link {
            await connection.close()
            return link
        }
        self.isPresent = isPresent
        let keyring = SecretService(connection, startsService: false, patience: Self.patience)
        let made = Link(
            connection: connection,
            logins: KeptLogins(keyring),
            presence: Task {
                do {
                    for try await change in changes { note(change) }
                } catch {}
                forget(connection)
            }
        )
        link = made
        return made
    }

    private func note(_ change: Signal) {
        isPresent = change.arguments.last != .string("")
        restsUntil = .now
    }

    private func forget(_ connection: Connection) {
        if link?.connection === connection { link = nil }
    }
}
