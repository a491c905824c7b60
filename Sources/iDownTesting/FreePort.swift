// SPDX-License-Identifier: Apache-2.0

/// Finds ports for servers that cannot choose one themselves.
package enum FreePort {
    /// Returns a port of 127.0.0.1 that was free; another program may take it before it is used.
    package static func find() throws(FaultServer.StartFailure) -> UInt16 {
        let probe = try FaultServer(script: .init { _ in [.close] })
        defer { probe.stop() }
        return probe.port
    }
}
