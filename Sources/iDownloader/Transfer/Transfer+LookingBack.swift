// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

// No answer by FTP or SFTP says which version its bytes are of: the date is asked for before the file
// is opened, or after it, and whoever puts another file there in between has two of them mixed. So the
// server is asked again behind the last byte.
extension Transfer {
    /// Makes sure that a file that came in several answers is one version of it.
    ///
    /// Where it is not, one answer brings it anew. A digest would tell by itself.
    func lookBack() async throws(TransferEnd) {
        guard !content.isOfOneAnswer, !fetch.hasDigest, !firstHop.url.isHTTP,
            try await !isStillThere()
        else { return }
        fetch.bringInOneAnswer()
        try await fetchAll()
    }

    /// Whether the server has the very file still, as far as its date, its length, its first and
    /// its last bytes tell.
    ///
    /// The first connection has brought the first bytes, so that a file that was replaced later on
    /// has others. A server that refuses to tell leaves it at what is known.
    private func isStillThere() async throws(TransferEnd) -> Bool {
        guard let total = content.known.total,
            let ending = ByteRange(from: max(0, total - OverlapProof.sample), to: total),
            let beginning = ByteRange(from: 0, to: min(total, OverlapProof.sample))
        else { return true }
        for ask in [Ask.ending(ending), .sample(beginning)] {
            do throws(TransferEnd) {
                guard case .equal = try await exchange(ask) else { return false }
            } catch {
                guard case .failed(let failure) = error, !failure.isTransient, !brake.isPulled
                else {
                    throw error
                }
            }
        }
        return true
    }

    /// Whether more has come by FTP than the server has announced: what it says of the length is
    /// not believed again.
    func showsAnotherSize(_ connection: Connection) -> Bool {
        guard connection.hop.url.isFTP, connection.ask.end == nil,
            let writer = connection.writer, writer.isOverfull, writer.end == content.known.total
        else { return false }
        fetch.distrustSize()
        // What the others have brought completes nothing.
        joining = nil
        return true
    }
}
