// SPDX-License-Identifier: Apache-2.0

package import DBus
import Glibc

/// A real keyring on a private bus, with one collection.
package struct GnomeKeyring: Sendable {
    /// The name that every keyring takes.
    package static let busName: BusName = "org.freedesktop.secrets"

    private let connection: Connection

    /// Locks the collection, as it is while nobody has given its password.
    package func lock() async throws {
        let collection = Value.objectPath("/org/freedesktop/secrets/collection/login")
        _ = try await connection.call(
            Self.busName,
            "/org/freedesktop/secrets",
            "org.freedesktop.Secret.Service",
            "Lock",
            [.array(of: ObjectPath.signature, [collection])]
        )
    }

    /// What a collection holds: a path an item.
    package func items() async throws -> [Value] {
        let answer = try await connection.call(
            Self.busName,
            "/org/freedesktop/secrets/collection/login",
            "org.freedesktop.DBus.Properties",
            "Get",
            [.string("org.freedesktop.Secret.Collection"), .string("Items")]
        )
        guard case .variant(.array(_, let items)) = answer.first else { return [] }
        return items
    }

    /// Runs `body` with a keyring that owns its name, and ends it afterwards.
    ///
    /// - Parameters:
    ///   - bus: where it serves.
    ///   - folder: the home of its files.
    ///   - isUnlocked: whether its collection, which is made then, is unlocked at the start.
    ///   - body: what is tested.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws, and what the start does.
    package static func run<R>(
        on bus: PrivateBus,
        in folder: String,
        isUnlocked: Bool = true,
        _ body: (GnomeKeyring) async throws -> R
    ) async throws -> R {
        let connection = try await Connection.open(.address(bus.address))
        let owners = try await SignalLog(
            .ownerChanges(of: busName),
            on: connection
        )
        let home = folder + "/keyring"
        mkdir(home, 0o700)
        let variables = bus.environment.merging([
            "HOME": home, "XDG_RUNTIME_DIR": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home,
            "XDG_CACHE_HOME": home,
        ]) { $1 }
        let result: Result<R, any Error>
        do {
            let value = try await withChild(
                "gnome-keyring-daemon",
                ["--foreground", "--components=secrets", "--control-directory=\(home)"]
                    + (isUnlocked ? ["--unlock"] : []),
                environment: variables,
                input: isUnlocked ? "a password" : ""
            ) { _ in
                try await owners.first("the keyring to take its name") { _ in true }
                return try await body(GnomeKeyring(connection: connection))
            }
            result = .success(value)
        } catch {
            result = .failure(error)
        }
        await connection.close()
        return try result.get()
    }
}
