// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@testable import Secrets

/// A keyring that refuses.
@Suite(.timeLimit(.minutes(2)))
struct SecretServiceTests {
    private static let session: ObjectPath = "/org/freedesktop/secrets/session/1"
    private static let item: ObjectPath = "/org/freedesktop/secrets/collection/login/1"

    /// Plays a keyring with one item, which is locked.
    ///
    /// - Parameters:
    ///   - connection: its own.
    ///   - closed: opened when the session is closed.
    /// - Throws: ``BusError``.
    private func serve(_ connection: Connection, closed: FaultServer.Gate) async throws {
        try await connection.export(
            [
                Interface(
                    "org.freedesktop.Secret.Service",
                    [
                        .method(
                            "OpenSession",
                            in: ["algorithm", "input"],
                            out: ["output", "result"]
                        ) { (_: Call, _: String, _: Value) -> (Value, ObjectPath) in
                            (.string(""), Self.session)
                        }
                    ]
                )
            ],
            at: "/org/freedesktop/secrets"
        )
        try await connection.export(
            [
                Interface(
                    "org.freedesktop.Secret.Session",
                    [.method("Close") { (_: Call) in closed.open() }]
                )
            ],
            at: Self.session
        )
        try await connection.export(
            [
                Interface(
                    "org.freedesktop.Secret.Item",
                    [
                        .method("GetSecret", in: ["session"], out: ["secret"]) {
                            (_: Call, _: ObjectPath) async throws -> String in
                            throw BusError("org.freedesktop.Secret.Error.IsLocked", "locked")
                        },
                        .method("Delete", out: ["prompt"]) { (_: Call) -> ObjectPath in
                            "/org/freedesktop/secrets/prompt/1"
                        },
                    ]
                )
            ],
            at: Self.item
        )
        _ = try await connection.requestName(SecretService.name)
    }

    @Test func `an item whose deletion the keyring asks about first is not deleted`() async throws {
        try await withPrivateBus { bus in
            let keyring = try await Connection.open(.address(bus.address))
            try await serve(keyring, closed: FaultServer.Gate())
            let connection = try await Connection.open(.address(bus.address))
            let service = SecretService(connection, startsService: false, patience: .seconds(25))
            #expect(try await service.delete(Self.item) == false)
            await connection.close()
            await keyring.close()
        }
    }

    @Test func `a session is closed although the call in it was refused`() async throws {
        try await withPrivateBus { bus in
            let keyring = try await Connection.open(.address(bus.address))
            let closed = FaultServer.Gate()
            try await serve(keyring, closed: closed)
            let connection = try await Connection.open(.address(bus.address))
            let service = SecretService(connection, startsService: false, patience: .seconds(25))
            let error = await #expect(throws: BusError.self) {
                _ = try await service.secret(of: Self.item)
            }
            #expect(error?.name == "org.freedesktop.Secret.Error.IsLocked")
            try await soon("the session to be closed") { closed.isOpen }
            await connection.close()
            await keyring.close()
        }
    }
}
