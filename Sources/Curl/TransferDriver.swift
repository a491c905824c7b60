// SPDX-License-Identifier: Apache-2.0

/// Whoever carries out transfers: a pool of libcurl, or a simulated network.
package protocol TransferDriver: Sendable {
    /// Begins a transfer at once and returns without waiting for anything.
    func begin(_ request: TransferRequest, sink: any TransferSink) -> TransferHandle

    /// Lets a paused transfer read on.
    func resume(_ handle: TransferHandle)

    /// Ends a transfer that has not ended yet.
    func cancel(_ handle: TransferHandle)

    /// Ends those whose connections are from none of these addresses of this computer.
    func endTransfers(cutOffFrom addresses: Set<SocketAddress>)
}

extension TransferDriver {
    /// Does nothing, for networks that have no addresses.
    package func endTransfers(cutOffFrom addresses: Set<SocketAddress>) {}
}

extension TransferPool: TransferDriver {}
