// SPDX-License-Identifier: Apache-2.0

import CCurl

/// The transfers in a multi handle, and what is known of the connections that they use.
///
/// Belongs to the pool's thread.
final class RunningTransfers {
    let sockets = ConnectionSockets()
    let signIns = KnownSignIns()
    private var transfers: [UnsafeMutableRawPointer: EasyTransfer] = [:]

    subscript(easy: UnsafeMutableRawPointer) -> EasyTransfer? {
        get { transfers[easy] }
        set { transfers[easy] = newValue }
    }

    /// Whether libcurl has put a transfer on a connection that already carries another transfer and
    /// cannot carry two.
    ///
    /// Once a host has spoken HTTP/2, libcurl takes every busy connection to it for one that can be
    /// shared, even one that speaks HTTP/1.1 (ConnectionExists in lib/url.c of 7.88). Two files
    /// then got each other's bytes, and both were reported complete. So before a request that asks
    /// for HTTP/2 is sent, its TLS session is compared with those of all others, and the request
    /// gets its own connection if it would be the second. A transfer that has ended no longer has a
    /// connection.
    func isIntruder(_ transfer: EasyTransfer) -> Bool {
        guard let tls = transfer.easy.tls, ccurl_speaks_http2(tls) == 0 else { return false }
        return transfers.values.contains { $0 !== transfer && $0.easy.tls == tls }
    }
}
