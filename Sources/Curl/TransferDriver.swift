// SPDX-License-Identifier: Apache-2.0

/// Whoever carries out transfers: a pool of libcurl, or a simulated network.
package protocol TransferDriver: Sendable {
    /// Begins a transfer at once and returns without waiting for anything.
    func begin(_ request: TransferRequest, sink: any TransferSink) -> TransferHandle

    /// Lets a paused transfer read on.
    func resume(_ handle: TransferHandle)

    /// Ends a transfer that has not ended yet.
    func cancel(_ handle: TransferHandle)
}

extension TransferPool: TransferDriver {}
