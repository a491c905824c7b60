// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

extension TransferRequest {
    /// Reads no more at once than goes on in a quarter of a second at this limit.
    ///
    /// What libcurl has read waits in memory while the limit holds it, and meanwhile nothing is read
    /// from the connection: a server that can send nothing for a minute gives up.
    mutating func slow(to bytesPerSecond: Int64) {
        let size = Int(clamping: bytesPerSecond / 4)
        receiveBufferSize = min(receiveBufferSize, max(size, 1024))
    }
}
