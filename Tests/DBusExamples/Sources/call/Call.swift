// SPDX-License-Identifier: Apache-2.0

import DBus

/// Uses the counter of the other example.
@main
enum Caller {
    private static let passed = Signal<UInt32>(
        "org.example.Counter1",
        "Passed",
        arguments: ["limit"]
    )

    static func main() async throws {
        let connection = try await Connection.open(.session)
        let counter = Proxy(
            connection,
            "org.example.Counter",
            "/org/example/Counter",
            "org.example.Counter1",
            startsService: false
        )

        // Waits until the service is there, if it is not.
        for try await owner in try await counter.owners() where owner != nil { break }

        // Signals and the cache are asked for before the call that changes something.
        let limits = try await counter.signals(passed)
        let properties = try await counter.properties()
        print("value:", try await properties.get("Value", as: UInt32.self))
        print("sum:", try await counter.call("Add", UInt32(12), returning: UInt32.self))
        for try await limit in limits {
            print("passed:", limit)
            break
        }

        // An error reply is thrown; programs decide by its name.
        do throws(BusError) {
            _ = try await counter.call("Add", UInt32.max, returning: UInt32.self)
        } catch {
            guard error.name == "org.example.Error.Overflow" else { throw error }
            print("refused:", error.message)
        }
        while try await properties.get("Value", as: UInt32.self) != 12 {
            for await _ in properties.changes { break }
        }
        print("value: 12")
        try await counter.call("Quit")
        await connection.close()
    }
}
