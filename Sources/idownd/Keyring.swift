// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import Secrets
import iDownService
import iDownState
import iDownloader

/// The logins in the desktop's keyring, while a keyring runs.
///
/// The service starts a keyring only to read logins that it stored there itself, and to see whether the
/// user keeps a login for a server that has refused a download. It never asks a keyring to unlock, and
/// does not wait for one that is locked or does not answer.
actor Keyring: StoredLogins, LoginVault {
    /// How long to wait for an answer; a keyring normally answers in milliseconds.
    private static let timeout: Duration = .seconds(1)
    /// How long to wait for calls that delay no download, or without which a download cannot start.
    private static let longTimeout: Duration = .seconds(10)
    /// How long a keyring that did not answer is not called; downloads go on without its logins.
    private static let backOff: Duration = .seconds(60)
    /// How many logins are cached; when there are more, the cache is emptied.
    private static let maxCached = 1_000

    /// An element when a keyring was unlocked, or started without a lock; several unlocks may share
    /// one.
    nonisolated let unlocks: AsyncStream<Void>
    private let unlock: AsyncStream<Void>.Continuation
    private let list: String

    /// The connection to a session bus; nil while there is none.
    private var connection: Connection?
    /// Follows whether a keyring runs and is unlocked; ends with the connection.
    private var following: Task<Void, Never>?
    private var isRunning = false
    private var wasOpen = false
    private var backOffEnd: ContinuousClock.Instant = .now
    private var cache: [String: URLLogins] = [:]

    /// - Parameter list: The folder of the list of tasks; it distinguishes this list's logins from
    ///   those of others.
    init(list: String) {
        self.list = list
        (unlocks, unlock) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Uses the keyring of a session bus, until the connection to it ends.
    func use(_ connection: Connection) async {
        following?.cancel()
        self.connection = nil
        let service = SecretService(connection, startsService: false, patience: Self.longTimeout)
        guard let events = try? await service.events() else { return }
        isRunning = await service.isRunning
        self.connection = connection
        following = Task {
            do {
                for try await event in events { await take(event) }
            } catch {
                // More signals came than the connection keeps: the keyring is of no use.
            }
            guard !Task.isCancelled else { return }
            self.connection = nil
            isRunning = false
            wasOpen = false
        }
    }

    /// Ends the following of the keyring.
    func close() {
        unlock.finish()
        following?.cancel()
        connection = nil
    }

    // MARK: Logins of servers

    func login(for origin: URLReference.Origin) async -> TransferRequest.Credentials? {
        guard let server = KeptLogins.Server(origin), let connection = reachable else { return nil }
        let logins = KeptLogins(service(over: connection, patience: Self.timeout))
        let login = await attempt { () throws(BusError) in try await logins.login(for: server) }
        return login?.map { .init(user: $0.user, password: $0.password) }
    }

    /// Starts a keyring that does not run.
    func mayHaveLogin(for origin: URLReference.Origin) async -> Bool {
        guard let server = KeptLogins.Server(origin), let connection else { return false }
        guard ContinuousClock.now >= backOffEnd else { return true }
        let patience = isRunning ? Self.timeout : Self.longTimeout
        let logins = KeptLogins(service(over: connection, patience: patience))
        let isKept = await attempt { () throws(BusError) in try await logins.isKept(for: server) }
        return isKept ?? (ContinuousClock.now < backOffEnd)
    }

    // MARK: Logins of URLs

    var isOpen: Bool {
        get async {
            await askForURLLogins { logins throws(BusError) in try await logins.isOpen } ?? false
        }
    }

    func keep(_ logins: URLLogins, at id: String) async -> Bool {
        let isKept = await askForURLLogins { kept throws(BusError) in
            try await kept.keep(logins.text, at: id)
        }
        if isKept == true { remember(logins, at: id) }
        return isKept ?? false
    }

    func urlLogins(keptAt id: String) async -> URLLogins? {
        if let logins = cache[id] { return logins }
        guard let connection, ContinuousClock.now >= backOffEnd else { return nil }
        let logins = urlLogins(over: connection)
        let text = await attempt { () throws(BusError) in try await logins.text(at: id) }
        guard let text = text ?? nil, let logins = URLLogins(text: text) else { return nil }
        remember(logins, at: id)
        return logins
    }

    func areGone(keptAt id: String) async -> Bool {
        await askForURLLogins { logins throws(BusError) in try await logins.lacks(id) } ?? false
    }

    var ids: [String] {
        get async {
            await askForURLLogins { logins throws(BusError) in try await logins.ids } ?? []
        }
    }

    func forget(_ id: String) async {
        cache[id] = nil
        _ = await askForURLLogins { logins throws(BusError) in try await logins.forget(id) }
    }

    /// Returns what a keyring that runs answers; nil where none does.
    private func askForURLLogins<Value>(
        _ body: (KeptURLLogins) async throws(BusError) -> Value
    ) async -> Value? {
        guard let connection = reachable else { return nil }
        let logins = urlLogins(over: connection)
        return await attempt { () throws(BusError) in try await body(logins) }
    }

    private func remember(_ logins: URLLogins, at id: String) {
        if cache.count >= Self.maxCached { cache = [:] }
        cache[id] = logins
    }

    // MARK: The keyring

    /// The connection if a keyring runs and answers.
    private var reachable: Connection? {
        isRunning && ContinuousClock.now >= backOffEnd ? connection : nil
    }

    /// Returns a client of the keyring, which starts one if none runs.
    private func service(over connection: Connection, patience: Duration) -> SecretService {
        SecretService(connection, startsService: !isRunning, patience: patience)
    }

    private func urlLogins(over connection: Connection) -> KeptURLLogins {
        KeptURLLogins(service(over: connection, patience: Self.longTimeout), list: list)
    }

    private func attempt<Value>(_ body: () async throws(BusError) -> Value) async -> Value? {
        do {
            return try await body()
        } catch {
            if error.name == "org.freedesktop.DBus.Error.NoReply" {
                backOffEnd = .now + Self.backOff
            }
            return nil
        }
    }

    private func take(_ event: Proxy.Event) async {
        if case .owner(let owner) = event {
            isRunning = owner != nil
            backOffEnd = .now
        }
        // A single check covers all objects, so it does not matter which one was unlocked.
        let isOpen = await isOpen
        defer { wasOpen = isOpen }
        if isOpen, !wasOpen { unlock.yield() }
    }
}

extension KeptLogins.Server {
    /// Nil for an origin without a port.
    fileprivate init?(_ origin: URLReference.Origin) {
        guard let port = origin.port else { return nil }
        self.init(scheme: origin.scheme, host: origin.host, port: port)
    }
}
