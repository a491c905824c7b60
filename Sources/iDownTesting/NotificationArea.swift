// SPDX-License-Identifier: Apache-2.0

package import DBus

/// A real notification server, dunst, on a virtual screen.
package struct NotificationArea: Sendable {
    private let dunst: Proxy

    fileprivate init(_ connection: Connection) {
        dunst = Proxy(
            connection,
            "org.freedesktop.Notifications",
            "/org/freedesktop/Notifications",
            "org.dunstproject.cmd0"
        )
    }

    /// The number of notifications on the screen.
    package var count: UInt32 {
        get async throws(BusError) { try await dunst.get("displayedLength") }
    }

    /// Waits until this many notifications are shown.
    package func wait(for count: UInt32) async throws {
        try await soon("\(count) notifications to be shown") {
            try await self.count == count
        }
    }

    /// Clicks on the first notification.
    package func click() async throws(BusError) {
        try await dunst.call("NotificationAction", UInt32(0))
    }
}

/// Runs `body` with a notification server on a bus; ends the server and its screen afterwards.
package func withNotificationArea<Value: Sendable>(
    on bus: PrivateBus,
    _ connection: Connection,
    _ body: (NotificationArea) async throws -> Value
) async throws -> Value {
    try await withChild(
        "Xvfb",
        ["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "640x480x24"]
    ) { screen in
        let number = try await within("a screen") { await screen.nextLine() }
        guard let number else {
            throw TimedOut(description: "Xvfb ended: \(screen.standardError)")
        }
        return try await withChild(
            "dunst",
            ["-conf", "/dev/null"],
            environment: bus.environment.merging(["DISPLAY": ":\(number)"]) { $1 }
        ) { dunst in
            let area = NotificationArea(connection)
            try await within("dunst to be there") {
                while !dunst.hasExited {
                    if (try? await area.count) != nil { return }
                    try await Task.sleep(for: .milliseconds(20))
                }
                throw TimedOut(description: "dunst ended: \(dunst.standardError)")
            }
            return try await body(area)
        }
    }
}
