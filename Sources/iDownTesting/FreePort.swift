// SPDX-License-Identifier: Apache-2.0

/// Ports for servers that must be told theirs.
package enum FreePort {
    /// A port of 127.0.0.1 that was free a moment ago; it may be taken again before it is used.
    package static func find() throws(FaultServer.StartFailure) -> UInt16 {
        let probe = try FaultServer(script: .init { _ in [.close] })
        defer { probe.stop() }
        return probe.port
    }
}
