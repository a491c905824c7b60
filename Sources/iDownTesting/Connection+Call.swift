// SPDX-License-Identifier: Apache-2.0

package import DBus

extension Connection {
    /// Calls a method with any values; see ``DBus/Proxy/call(_:values:timeout:startsService:)``.
    @discardableResult
    package func call(
        _ destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ arguments: [Value] = [],
        timeout: Duration = .seconds(25),
        startService: Bool = true
    ) async throws(BusError) -> [Value] {
        try await Proxy(self, destination, path, interface)
            .call(member, values: arguments, timeout: timeout, startsService: startService)
    }
}
