// SPDX-License-Identifier: Apache-2.0

import Curl
import FoundationEssentials
import iDownState

extension ResponseFacts {
    /// Translates the answer of an FTP, SFTP or file server to the facts by which answers are
    /// judged.
    ///
    /// The modification time serves as the validator because there is no other one. Equal times do
    /// not guarantee equal bytes, so the time never proves a file, and a resumed download also
    /// compares bytes.
    init(_ file: RemoteFile) {
        let part = file.offset.flatMap { offset in file.length.map { (offset, $0) } }
        self.init(status: file.offset == nil ? 200 : 206)
        contentLength = file.length.map { .bytes($0) } ?? .unknown
        lastModified = file.modified.map { seconds in
            let date = Date(timeIntervalSince1970: TimeInterval(seconds))
            return LastModified(field: date.formatted(.iso8601), isStrong: true)
        }
        acceptsRanges = file.size != nil
        lacksValidators = true
        guard let (offset, length) = part, offset <= Int64.max - length else { return }
        if length > 0 {
            let range = ByteRange(from: offset, to: offset + length)
            contentRange = range.map { .satisfied($0, total: file.size) }
        } else {
            status = 416
            contentRange = file.size.map { .unsatisfied(total: $0) }
        }
    }

    /// Translates the refusal of a range by an FTP, SFTP or file server; nil for any other end of a
    /// transfer.
    ///
    /// - Parameters:
    ///   - outcome: the end of the transfer.
    ///   - replies: the replies to RETR that refuse the range.
    init?(refusalOfPart outcome: TransferOutcome, _ replies: Set<Int>) {
        switch outcome.result {
        case .beyondEnd: self.init(status: 416)
        // A 206 without Content-Range makes the judge ask for the whole file.
        case .noRestart: self.init(status: 206)
        case .couldNotRetrieve where replies.contains(outcome.status): self.init(status: 206)
        default: return nil
        }
        lacksValidators = true
    }
}
