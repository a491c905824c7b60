// SPDX-License-Identifier: Apache-2.0

package import DBus

/// A desktop service that python3-dbusmock imitates on a test's own bus.
package struct MockService: Sendable {
    /// The test's connection to that bus.
    package let connection: Connection
    /// The service's bus name.
    package let name: BusName
    /// The path of its main object.
    package let path: ObjectPath
    /// The main interface of that object.
    package let interface: InterfaceName

    private static let mock: InterfaceName = "org.freedesktop.DBus.Mock"

    /// Changes properties, and sends PropertiesChanged.
    package func update(_ properties: [String: Value]) async throws(BusError) {
        let arguments: [Value] = [.string(interface.rawValue), properties.busValue]
        try await call("UpdateProperties", arguments)
    }

    /// Adds a property that the template lacks.
    package func add(
        _ property: String,
        _ value: Value
    ) async throws(BusError) {
        _ = try await call(
            "AddProperty",
            [.string(interface.rawValue), .string(property), .variant(value)]
        )
    }

    /// Sends a signal.
    package func emit(
        _ member: String,
        _ signature: String,
        _ arguments: [Value]
    ) async throws(BusError) {
        let values = Value.array(of: "v", arguments.map { .variant($0) })
        _ = try await call(
            "EmitSignal",
            [.string(interface.rawValue), .string(member), .string(signature), values]
        )
    }

    /// Returns the arguments of each call of a method so far.
    package func calls(of member: String) async throws(BusError) -> [[Value]] {
        let answer = try await call("GetMethodCalls", [.string(member)])
        guard case .array(_, let calls) = answer.first else { return [] }
        return calls.compactMap { call in
            guard case .structure(let parts) = call, case .array(_, let values) = parts.last else {
                return nil
            }
            return values.map { if case .variant(let value) = $0 { value } else { $0 } }
        }
    }

    /// Waits until a method was called this many times, and returns the arguments of all its calls.
    @discardableResult
    package func waitForCalls(
        of member: String,
        count: Int = 1
    ) async throws -> [[Value]] {
        try await within("\(count) calls of \(member)") {
            while true {
                let calls = try await calls(of: member)
                if calls.count >= count { return calls }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Calls a method of the mock's own interface.
    @discardableResult
    package func call(
        _ member: MemberName,
        _ arguments: [Value] = []
    ) async throws(BusError) -> [Value] {
        try await connection.call(name, path, Self.mock, member, arguments)
    }
}

/// Runs `body` while a mock of a template serves, and ends the mock afterwards.
///
/// - Parameters:
///   - template: The name of a template of python3-dbusmock.
///   - parameters: The template's parameters, as JSON.
///   - name: The bus name that it takes.
///   - path: The path of its main object.
///   - interface: The main interface of that object.
///   - bus: The bus, used as both the session bus and the system bus.
///   - connection: The test's connection to it.
///   - body: The test, which runs once the mock answers.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws; ``ChildProcess/StartFailure``; ``TimedOut``.
package func withMock<Value: Sendable>(
    _ template: String,
    parameters: String = "{}",
    name: BusName,
    path: ObjectPath,
    interface: InterfaceName,
    on bus: PrivateBus,
    _ connection: Connection,
    _ body: (MockService) async throws -> Value
) async throws -> Value {
    try await withChild(
        "/usr/bin/python3",
        ["-m", "dbusmock", "--template", template, "--parameters", parameters],
        environment: bus.environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": bus.address]) { $1 }
    ) { child in
        let service = MockService(
            connection: connection,
            name: name,
            path: path,
            interface: interface
        )
        try await within("the mock \(template) to answer") {
            while !child.hasExited {
                let names = try? await connection.call(
                    name,
                    path,
                    "org.freedesktop.DBus.Properties",
                    "GetAll",
                    [.string(interface.rawValue)]
                )
                if names != nil { return }
                try await Task.sleep(for: .milliseconds(20))
            }
            throw TimedOut(description: "\(template): \(child.standardError)")
        }
        return try await body(service)
    }
}
