// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@testable import Secrets

/// Logins in a real keyring.
@Suite(.timeLimit(.minutes(2)))
struct KeptLoginsTests {
    private let here = KeptLogins.Server(scheme: "https", host: "example.org", port: 443)
    private let there = KeptLogins.Server(scheme: "https", host: "example.org", port: 8443)

    private func withKeyring(
        _ body: (KeptLogins, SecretService, GnomeKeyring) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withPrivateBus { bus in
                try await GnomeKeyring.run(on: bus, in: folder) { keyring async throws in
                    let connection = try await Connection.open(.address(bus.address))
                    let service = SecretService(
                        connection,
                        startsService: false,
                        patience: .seconds(25)
                    )
                    try await body(KeptLogins(service), service, keyring)
                    await connection.close()
                }
            }
        }
    }

    @Test func `a login is kept for one server, replaced, and forgotten`() async throws {
        try await withKeyring { (logins, _, keyring) async throws in
            #expect(try await logins.login(for: here) == nil)
            let first = Login(user: "me", password: "geheim ü\n")
            #expect(try await logins.keep(first, for: here))
            #expect(try await logins.login(for: here) == first)
            #expect(try await logins.login(for: there) == nil)

            #expect(try await logins.keep(Login(user: "me", password: "2"), for: here))
            let other = Login(user: "you", password: "")
            #expect(try await logins.keep(other, for: here))
            #expect(try await logins.keep(first, for: there))
            #expect(try await logins.login(for: here) == other)
            #expect(try await keyring.items().count == 2)

            #expect(try await logins.forget(here).forgotten == 1)
            #expect(try await logins.login(for: here) == nil)
            #expect(try await logins.login(for: there) == first)
            #expect(try await logins.forget(here).forgotten == 0)
        }
    }

    @Test func `what other programs keep is neither read nor forgotten`() async throws {
        try await withKeyring { (logins, service, keyring) async throws in
            let attributes = ["server": here.description, "user": "me", "xdg:schema": "org.other"]
            #expect(try await service.keep([65], label: "x", attributes: attributes))
            #expect(try await logins.login(for: here) == nil)
            #expect(try await logins.forget(here).forgotten == 0)
            #expect(try await keyring.items().count == 1)
        }
    }

    @Test func `an item that can never be read counts as no login`() async throws {
        try await withKeyring { (logins, service, _) async throws in
            #expect(try await logins.keep(Login(user: "me", password: "1"), for: there))
            let attributes = ["server": here.description, "xdg:schema": "org.idown.Login"]
            #expect(try await service.keep([65], label: "no user", attributes: attributes))
            #expect(try await logins.login(for: here) == nil)
            #expect(try await !logins.isKept(for: here))
            #expect(try await logins.isKept(for: there))
        }
    }

    @Test func `of a locked keyring nothing is read, kept or forgotten, and nobody waits`()
        async throws
    {
        try await withKeyring { (logins, _, keyring) async throws in
            #expect(try await logins.keep(Login(user: "me", password: "1"), for: here))
            try await keyring.lock()
            #expect(try await logins.login(for: here) == nil)
            #expect(try await !logins.keep(Login(user: "me", password: "2"), for: there))
            #expect(try await logins.isKept(for: here))
            #expect(try await !logins.isKept(for: there))
            let (forgotten, locked, guarded) = try await logins.forget(here)
            #expect((forgotten, locked, guarded) == (0, 1, 0))
        }
    }

    @Test func `a keyring that is locked since its start is known to have the login`() async throws
    {
        try await withTemporaryFolder { folder in
            try await withPrivateBus { bus in
                let connection = try await Connection.open(.address(bus.address))
                let logins = KeptLogins(
                    SecretService(connection, startsService: false, patience: .seconds(25))
                )
                try await GnomeKeyring.run(on: bus, in: folder) { _ async throws in
                    #expect(try await logins.keep(Login(user: "me", password: "1"), for: here))
                }
                try await GnomeKeyring.run(on: bus, in: folder, isUnlocked: false) {
                    _ async throws in
                    #expect(try await logins.isKept(for: here))
                    #expect(try await !logins.isKept(for: there))
                    let (forgotten, locked, _) = try await logins.forget(here)
                    #expect((forgotten, locked) == (0, 1))
                }
                await connection.close()
            }
        }
    }

    @Test func `without a keyring there is an error, and no login`() async throws {
        try await withPrivateBus { bus in
            let connection = try await Connection.open(.address(bus.address))
            let service = SecretService(connection, startsService: false, patience: .seconds(5))
            await #expect(throws: BusError.self) {
                _ = try await KeptLogins(service).login(for: here)
            }
            await connection.close()
        }
    }
}
