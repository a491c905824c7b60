// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import Secrets
import iDownService
import iDownState
import iDownloader

/// The logins in the desktop's keyring, while one runs.
///
/// The service starts a keyring only to read what it has put there itself, never asks it to
/// unlock anything, and never waits for one that is locked or does not answer.
actor Keyring: StoredLogins, LoginVault {
    private struct Link {
        let connection: Connection
        let logins: KeptLogins
        let urlLogins: KeptURLLogins
        /// The same, by way of a keyring that is started for it.
        let startedURLLogins: KeptURLLogins
        /// Follows the keyring's comings and goings; ends with the connection.
        let presence: Task<Void, Never>
    }

    /// A keyring answers in milliseconds.
    private static let patience: Duration = .seconds(1)
    /// For what nobody waits for, and for what a download cannot do without.
    private static let longPatience: Duration = .seconds(10)
    /// One that did not answer is left alone for so long, and downloads go on without.
    private static let rest: Duration = .seconds(60)
    /// A bus that went away is looked for this often.
    private static let searchPace: Duration = .seconds(2)
    /// What is known need not be asked for again; more is forgotten.
    private static let mostKnown = 1_000

    /// Something may be open that was not before; one for any number of times.
    nonisolated let openings: AsyncStream<Void>
    private let opening: AsyncStream<Void>.Continuation
    private let list: String

    private var link: Link?
    private var isPresent = false
    private var wasOpen = false
    private var restsUntil: ContinuousClock.Instant = .now
    private var known: [String: URLLogins] = [:]

    /// - Parameter list: the folder of the list of tasks, which tells its logins from others'.
    init(list: String) {
        self.list = list
        (openings, opening) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Looks out for a keyring until the task is cancelled.
    func attend() async {
        while !Task.isCancelled {
            if let link = await connect() {
                await lookWhetherOpen()
                await link.presence.value
            }
            guard (try? await Task.sleep(for: Self.searchPace)) != nil else { return }
        }
    }

    /// Ends the connection to the bus.
    func close() async {
        opening.finish()
        guard let link else { return }
        self.link = nil
        link.presence.cancel()
        await link.connection.close()
    }

    // MARK: Logins of servers

    func login(for origin: URLReference.Origin) async -> TransferRequest.Credentials? {
        guard let port = origin.port, let link = await reach() else { return nil }
        let server = KeptLogins.Server(scheme: origin.scheme, host: origin.host, port: port)
        let login = await attempt { () throws(BusError) in
            try await link.logins.login(for: server)
        }
        return login?.map { .init(user: $0.user, password: $0.password) }
    }

    // MARK: Logins of URLs

    var isOpen: Bool {
        get async {
            guard let link = await reach() else { return false }
            return await attempt { () throws(BusError) in try await link.urlLogins.isOpen } ?? false
        }
    }

    func keep(_ logins: URLLogins, at id: String) async -> Bool {
        guard let link = await reach() else { return false }
        let isKept = await attempt { () throws(BusError) in
            try await link.urlLogins.keep(logins.text, at: id)
        }
        if isKept == true { note(logins, at: id) }
        return isKept ?? false
    }

    func urlLogins(keptAt id: String) async -> URLLogins? {
        if let logins = known[id] { return logins }
        guard let link = await connect(), ContinuousClock.now >= restsUntil else { return nil }
        let logins = isPresent ? link.urlLogins : link.startedURLLogins
        let text = await attempt { () throws(BusError) in try await logins.text(at: id) }
        guard let text = text ?? nil, let logins = URLLogins(text: text) else { return nil }
        note(logins, at: id)
        return logins
    }

    var ids: [String] {
        get async {
            guard let link = await reach() else { return [] }
            return await attempt { () throws(BusError) in try await link.urlLogins.ids } ?? []
        }
    }

    func forget(_ id: String) async {
        known[id] = nil
        guard let link = await reach() else { return }
        _ = await attempt { () throws(BusError) in try await link.urlLogins.forget(id) }
    }

    private func note(_ logins: URLLogins, at id: String) {
        if known.count >= Self.mostKnown { known = [:] }
        known[id] = logins
    }

    // MARK: The keyring

    /// The way to a keyring that runs and answers.
    private func reach() async -> Link? {
        guard let link = await connect(), isPresent, ContinuousClock.now >= restsUntil else {
            return nil
        }
        return link
    }

    private func attempt<Value>(
        _ body: () async throws(BusError) -> Value
    ) async -> Value? {
        do {
            return try await body()
        } catch {
            if error.name == "org.freedesktop.DBus.Error.NoReply" {
                restsUntil = .now + Self.rest
            }
            return nil
        }
    }

    private func connect() async -> Link? {
        if let link { return link }
        guard let connection = try? await Connection.open(BusAddress.session.ofAnyRun) else {
            return nil
        }
        guard let signals = try? await connection.signals(Self.comings) else {
            await connection.close()
            return nil
        }
        // Which of its objects was unlocked matters to nobody: one look tells.
        let changes = try? await connection.signals(
            MatchRule(
                sender: SecretService.name,
                interface: "org.freedesktop.DBus.Properties",
                member: "PropertiesChanged"
            )
        )
        let isPresent = (try? await connection.owner(of: SecretService.name)) != nil
        // Another download may have been faster.
        if let link {
            await connection.close()
            return link
        }
        self.isPresent = isPresent
        let made = Link(
            connection: connection,
            logins: KeptLogins(Self.service(connection, patience: Self.patience)),
            urlLogins: KeptURLLogins(
                Self.service(connection, patience: Self.longPatience),
                list: list
            ),
            startedURLLogins: KeptURLLogins(
                Self.service(connection, patience: Self.longPatience, startsService: true),
                list: list
            ),
            presence: Task {
                await withTaskGroup { group in
                    group.addTask { [self] in
                        do {
                            for try await change in signals { await note(change) }
                        } catch {}
                    }
                    group.addTask { [self] in
                        guard let changes else { return }
                        do {
                            for try await _ in changes { await lookWhetherOpen() }
                        } catch {}
                    }
                }
                forget(connection)
            }
        )
        link = made
        return made
    }

    private static let comings = MatchRule(
        sender: .bus,
        interface: "org.freedesktop.DBus",
        member: "NameOwnerChanged",
        arguments: [0: SecretService.name.rawValue]
    )

    private static func service(
        _ connection: Connection,
        patience: Duration,
        startsService: Bool = false
    ) -> SecretService {
        SecretService(connection, startsService: startsService, patience: patience)
    }

    private func note(_ change: Signal) async {
        isPresent = change.arguments.last != .string("")
        restsUntil = .now
        await lookWhetherOpen()
    }

    private func lookWhetherOpen() async {
        let isOpen = await isOpen
        defer { wasOpen = isOpen }
        if isOpen, !wasOpen { opening.yield() }
    }

    private func forget(_ connection: Connection) {
        guard link?.connection === connection else { return }
        link = nil
        isPresent = false
        wasOpen = false
    }
}
