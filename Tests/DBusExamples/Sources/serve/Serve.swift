// SPDX-License-Identifier: Apache-2.0

import DBus

/// A counter on the session bus, which ends when it is told to.
@main
actor Counter {
    private static let name: BusName = "org.example.Counter"
    private static let interface: InterfaceName = "org.example.Counter1"
    private static let passed = Signal<UInt32>(interface, "Passed", arguments: ["limit"])

    private var value: UInt32 = 0

    /// Counts up, and tells what has changed.
    private func add(_ amount: UInt32, _ call: Call) async throws -> UInt32 {
        let (sum, isTooMuch) = value.addingReportingOverflow(amount)
        if isTooMuch { throw BusError("org.example.Error.Overflow", "The counter is full.") }
        let limit = sum / 10 * 10
        let passesLimit = limit > value
        // Before the first suspension: other calls may run meanwhile.
        value = sum
        if passesLimit { try await call.connection.emit(Self.passed, at: call.path, limit) }
        try await call.connection.emit(
            Interface.propertiesChanged,
            at: call.path,
            Self.interface.rawValue,
            ["Value": .uint32(sum)],
            []
        )
        return sum
    }

    static func main() async throws {
        let connection = try await Connection.open(.session)
        let counter = Counter()
        let table = Interface(
            interface,
            [
                .method("Add", in: ["amount"], out: ["sum"]) { (call: Call, amount: UInt32) in
                    try await counter.add(amount, call)
                },
                .method("Quit") { (call: Call) in
                    // In a task of its own: the reply is sent first.
                    Task {
                        await call.connection.flush(); await call.connection.close()
                    }
                },
                .property("Value", get: { (_: Call) in await counter.value }),
                .signal(passed),
            ]
        )
        // First the object, then the name: a client that sees the name finds the object.
        try await connection.export([table], at: "/org/example/Counter")
        guard try await connection.requestName(name) else { return }
        await connection.waitUntilClosed()
    }
}
