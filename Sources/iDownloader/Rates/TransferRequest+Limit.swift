// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

extension TransferRequest {
    /// Limits the receive buffer to the bytes of a quarter of a second at this limit.
    ///
    /// While the limit holds back bytes that libcurl has read, nothing is read from the connection,
    /// and some servers give up if they cannot send for a minute.
    mutating func slow(to bytesPerSecond: Int64) {
        let size = Int(clamping: bytesPerSecond / 4)
        receiveBufferSize = min(receiveBufferSize, max(size, 1024))
    }
}
