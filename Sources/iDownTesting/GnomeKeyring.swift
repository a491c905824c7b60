// SPDX-License-Identifier: Apache-2.0

package import DBus
import Glibc

/// A real GNOME keyring on a private bus, with one collection.
package struct GnomeKeyring: Sendable {
    /// The bus name of every keyring.
    package static let busName: BusName = "org.freedesktop.secrets"

    private let connection: Connection

    /// Locks the collection, as it is before the user has typed its password.
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

    /// Returns the object paths of the collection's items.
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

    /// Deletes the collection's items, as the user may in a password manager.
    package func deleteItems() async throws {
        for case .objectPath(let item) in try await items() {
            _ = try await connection.call(
                Self.busName,
                item,
                "org.freedesktop.Secret.Item",
                "Delete"
            )
        }
    }

    /// Runs `body` with a keyring that owns its bus name, and ends the keyring afterwards.
    ///
    /// - Parameters:
    ///   - bus: The bus on which it serves.
    ///   - folder: The folder for its files.
    ///   - isUnlocked: Whether to make the collection and unlock it at the start.
    ///   - body: The test.
    /// - Returns: What `body` returns.
    /// - Throws: The errors of `body` and of the start.
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
