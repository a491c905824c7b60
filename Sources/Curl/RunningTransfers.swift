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

    /// Whether libcurl has put a transfer on a connection that carries another's answer and can
    /// carry no second one.
    ///
    /// Once a host has spoken HTTP/2, libcurl takes every busy connection to it for one that can be
    /// shared, those that speak HTTP/1.1 as well (ConnectionExists in lib/url.c of 7.88): each of
    /// the two would get bytes of the other's file. One that has ended has no connection any more.
    func isIntruder(_ transfer: Transfer) -> Bool {
        guard let tls = transfer.easy.tls, ccurl_speaks_http2(tls) == 0 else { return false }
        return transfers.values.contains { $0 !== transfer && $0.easy.tls == tls }
    }
}
