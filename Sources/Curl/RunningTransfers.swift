// SPDX-License-Identifier: Apache-2.0

import CCurl

/// The transfers that are in a multi handle.
///
/// Belongs to the pool's thread.
final class RunningTransfers {
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]

    subscript(easy: UnsafeMutableRawPointer) -> Transfer? {
        get { transfers[easy] }
        set { transfers[easy] = newValue }
    }

    /// Whether libcurl has put a transfer on a connection that carries another transfer's answer
    /// and cannot carry a second one.
    ///
    /// Once a host has spoken HTTP/2, libcurl takes every busy connection to it for one that can be
    /// shared, also those that speak HTTP/1.1 (ConnectionExists in lib/url.c of 7.88). Then two
    /// files got bytes of each other, and both were reported complete. So a request that asks for
    /// HTTP/2 compares its TLS session with those of all others before it is sent, and takes a
    /// connection of its own if it would be the second. A transfer that has ended has no connection
    /// any more.
    func isIntruder(_ transfer: Transfer) -> Bool {
        guard let tls = transfer.easy.tls, ccurl_speaks_http2(tls) == 0 else { return false }
        return transfers.values.contains { $0 !== transfer && $0.easy.tls == tls }
    }
}
