// SPDX-License-Identifier: Apache-2.0

package import DBus

// The desktop services that a download manager uses.
extension PrivateBus {
    /// NetworkManager, connected and not metered.
    package func withNetworkManager<Value: Sendable>(
        _ connection: Connection,
        _ body: (MockService) async throws -> Value
    ) async throws -> Value {
        try await withMock(
            "networkmanager",
            name: "org.freedesktop.NetworkManager",
            path: "/org/freedesktop/NetworkManager",
            interface: "org.freedesktop.NetworkManager",
            on: self,
            connection
        ) { mock in
            // The template lacks this property.
            try await mock.add("Metered", .uint32(4))
            return try await body(mock)
        }
    }

    /// UPower, on mains power.
    package func withUPower<Value: Sendable>(
        _ connection: Connection,
        _ body: (MockService) async throws -> Value
    ) async throws -> Value {
        try await withMock(
            "upower",
            parameters: #"{"OnBattery": false, "DaemonVersion": "0.99"}"#,
            name: "org.freedesktop.UPower",
            path: "/org/freedesktop/UPower",
            interface: "org.freedesktop.UPower",
            on: self,
            connection,
            body
        )
    }

    /// The power profiles service, with the profile "balanced".
    package func withPowerProfiles<Value: Sendable>(
        _ connection: Connection,
        _ body: (MockService) async throws -> Value
    ) async throws -> Value {
        try await withMock(
            "power_profiles_daemon",
            name: "net.hadess.PowerProfiles",
            path: "/net/hadess/PowerProfiles",
            interface: "net.hadess.PowerProfiles",
            on: self,
            connection,
            body
        )
    }

    /// logind.
    package func withLogind<Value: Sendable>(
        _ connection: Connection,
        _ body: (MockService) async throws -> Value
    ) async throws -> Value {
        try await withMock(
            "logind",
            name: "org.freedesktop.login1",
            path: "/org/freedesktop/login1",
            interface: "org.freedesktop.login1.Manager",
            on: self,
            connection,
            body
        )
    }

    /// A notification server with these capabilities.
    package func withNotificationServer<Value: Sendable>(
        _ connection: Connection,
        capabilities: String = "body body-markup actions",
        _ body: (MockService) async throws -> Value
    ) async throws -> Value {
        try await withMock(
            "notification_daemon",
            parameters: #"{"capabilities": "\#(capabilities)"}"#,
            name: "org.freedesktop.Notifications",
            path: "/org/freedesktop/Notifications",
            interface: "org.freedesktop.Notifications",
            on: self,
            connection,
            body
        )
    }
}
