// SPDX-License-Identifier: Apache-2.0

/// Carries out transfers: a pool of libcurl, or a simulated network.
package protocol TransferDriver: Sendable {
    /// Begins a transfer, and returns without waiting.
    func begin(_ request: TransferRequest, sink: any TransferSink) -> TransferHandle

    /// Lets a paused transfer continue reading.
    func resume(_ handle: TransferHandle)

    /// Ends a transfer, unless it has ended already.
    func cancel(_ handle: TransferHandle)

    /// Ends the transfers whose local addresses are not among these addresses of this computer.
    func endTransfers(cutOffFrom addresses: Set<SocketAddress>)

    /// Ends all transfers, and returns once nothing of them runs any more.
    func shutDown() async
}

extension TransferDriver {
    /// Does nothing, for networks without addresses.
    package func endTransfers(cutOffFrom addresses: Set<SocketAddress>) {}

    /// Does nothing, for networks without threads.
    package func shutDown() async {}
}

extension TransferPool: TransferDriver {}
