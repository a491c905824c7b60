// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import Secrets
import iDownService
import iDownState
import iDownloader

/// The logins in the desktop's keyring, while a keyring runs.
///
/// The service starts a keyring only to read logins that it stored there itself. It never asks a
/// keyring to unlock, and does not wait for one that is locked or does not answer.
actor Keyring: StoredLogins, LoginVault {
    private struct Link {
        let connection: Connection
        let logins: KeptLogins
        let urlLogins: KeptURLLogins
        /// Like `urlLogins`, but starts a keyring if none runs.
        let startedURLLogins: KeptURLLogins
        /// Follows whether a keyring runs and is unlocked; ends with the connection.
        let following: Task<Void, Never>
    }

    /// How long to wait for an answer; a keyring normally answers in milliseconds.
    private static let timeout: Duration = .seconds(1)
    /// How long to wait for calls that delay no download, or without which a download cannot start.
    private static let longTimeout: Duration = .seconds(10)
    /// How long a keyring that did not answer is not called; downloads go on without its logins.
    private static let backOff: Duration = .seconds(60)
    /// The time between two attempts to connect to a bus that went away.
    private static let reconnectInterval: Duration = .seconds(2)
    /// How many logins are cached; when there are more, the cache is emptied.
    private static let maxCached = 1_000

    /// An element when a keyring was unlocked, or started without a lock; several unlocks may share
    /// one.
    nonisolated let unlocks: AsyncStream<Void>
    private let unlock: AsyncStream<Void>.Continuation
    private let list: String

    private var link: Link?
    private var isRunning = false
    private var wasOpen = false
    private var backOffEnd: ContinuousClock.Instant = .now
    private var cache: [String: URLLogins] = [:]

    /// - Parameter list: the folder of the list of tasks; it distinguishes this list's logins from
    ///   those of others.
    init(list: String) {
        self.list = list
        (unlocks, unlock) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Follows the keyring until the task is cancelled.
    func follow() async {
        while !Task.isCancelled {
            if let link = await connect() {
                await checkWhetherOpen()
                await link.following.value
            }
            guard (try? await Task.sleep(for: Self.reconnectInterval)) != nil else { return }
        }
    }

    /// Closes the connection to the bus.
    func close() async {
        unlock.finish()
        guard let link else { return }
        self.link = nil
        link.following.cancel()
        await link.connection.close()
    }

    // MARK: Logins of servers

    func login(for origin: URLReference.Origin) async -> TransferRequest.Credentials? {
        guard let port = origin.port, let link = await reachableLink() else { return nil }
        let server = KeptLogins.Server(scheme: origin.scheme, host: origin.host, port: port)
        let login = await attempt { () throws(BusError) in
            try await link.logins.login(for: server)
        }
        return login?.map { .init(user: $0.user, password: $0.password) }
    }

    // MARK: Logins of URLs

    var isOpen: Bool {
        get async {
            guard let link = await reachableLink() else { return false }
            return await attempt { () throws(BusError) in try await link.urlLogins.isOpen } ?? false
        }
    }

    func keep(_ logins: URLLogins, at id: String) async -> Bool {
        guard let link = await reachableLink() else { return false }
        let isKept = await attempt { () throws(BusError) in
            try await link.urlLogins.keep(logins.text, at: id)
        }
        if isKept == true { remember(logins, at: id) }
        return isKept ?? false
    }

    func urlLogins(keptAt id: String) async -> URLLogins? {
        if let logins = cache[id] { return logins }
        guard let link = await connect(), ContinuousClock.now >= backOffEnd else { return nil }
        let logins = isRunning ? link.urlLogins : link.startedURLLogins
        let text = await attempt { () throws(BusError) in try await logins.text(at: id) }
        guard let text = text ?? nil, let logins = URLLogins(text: text) else { return nil }
        remember(logins, at: id)
        return logins
    }

    var ids: [String] {
        get async {
            guard let link = await reachableLink() else { return [] }
            return await attempt { () throws(BusError) in try await link.urlLogins.ids } ?? []
        }
    }

    func forget(_ id: String) async {
        cache[id] = nil
        guard let link = await reachableLink() else { return }
        _ = await attempt { () throws(BusError) in try await link.urlLogins.forget(id) }
    }

    private func remember(_ logins: URLLogins, at id: String) {
        if cache.count >= Self.maxCached { cache = [:] }
        cache[id] = logins
    }

    // MARK: The keyring

    /// Returns the connection if a keyring runs and answers.
    private func reachableLink() async -> Link? {
        guard let link = await connect(), isRunning, ContinuousClock.now >= backOffEnd else {
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
                backOffEnd = .now + Self.backOff
            }
            return nil
        }
    }

    private func connect() async -> Link? {
        if let link { return link }
        guard let connection = try? await Connection.open(BusAddress.session.ofAnyRun) else {
            return nil
        }
        guard let signals = try? await connection.signals(Self.ownerChanges) else {
            await connection.close()
            return nil
        }
        // Which object was unlocked does not matter: one check tells.
        let changes = try? await connection.signals(
            MatchRule(
                sender: SecretService.name,
                interface: "org.freedesktop.DBus.Properties",
                member: "PropertiesChanged"
            )
        )
        let isRunning = (try? await connection.owner(of: SecretService.name)) != nil
        // Another call may have connected in the meantime.
        if let link {
            await connection.close()
            return link
        }
        self.isRunning = isRunning
        let made = Link(
            connection: connection,
            logins: KeptLogins(Self.service(connection, patience: Self.timeout)),
            urlLogins: KeptURLLogins(
                Self.service(connection, patience: Self.longTimeout),
                list: list
            ),
            startedURLLogins: KeptURLLogins(
                Self.service(connection, patience: Self.longTimeout, startsService: true),
                list: list
            ),
            following: Task {
                await withTaskGroup { group in
                    group.addTask { [self] in
                        do {
                            for try await change in signals { await ownerChanged(change) }
                        } catch {}
                    }
                    group.addTask { [self] in
                        guard let changes else { return }
                        do {
                            for try await _ in changes { await checkWhetherOpen() }
                        } catch {}
                    }
                }
                discard(connection)
            }
        )
        link = made
        return made
    }

    private static let ownerChanges = MatchRule(
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

    private func ownerChanged(_ change: Signal) async {
        isRunning = change.arguments.last != .string("")
        backOffEnd = .now
        await checkWhetherOpen()
    }

    private func checkWhetherOpen() async {
        let isOpen = await isOpen
        defer { wasOpen = isOpen }
        if isOpen, !wasOpen { unlock.yield() }
    }

    private func discard(_ connection: Connection) {
        guard link?.connection === connection else { return }
        link = nil
        isRunning = false
        wasOpen = false
    }
}
