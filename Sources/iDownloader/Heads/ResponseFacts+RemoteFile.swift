// SPDX-License-Identifier: Apache-2.0

import Curl
import FoundationEssentials
import iDownState

extension ResponseFacts {
    /// What a server of files says, in the terms in which the ladder judges an answer.
    ///
    /// The time stands for the version, since there is nothing else to hold an answer against; but
    /// nothing promises that equal times mean equal bytes: no file is ever vouched for by it, and
    /// what goes on later is proven by its bytes too.
    init(_ file: RemoteFile) {
        let part = file.offset.flatMap { offset in file.length.map { (offset, $0) } }
        self.init(
            status: file.offset == nil ? 200 : 206,
            contentLength: file.length.map { .bytes($0) } ?? .unknown,
            lastModified: file.modified.map { seconds in
                let date = Date(timeIntervalSince1970: TimeInterval(seconds))
                return LastModified(field: date.formatted(.iso8601), isStrong: true)
            },
            acceptsRanges: file.size != nil,
            lacksValidators: true
        )
        guard let (offset, length) = part, offset <= Int64.max - length else { return }
        if length > 0 {
            let range = ByteRange(from: offset, to: offset + length)
            contentRange = range.map { .satisfied($0, total: file.size) }
        } else {
            status = 416
            contentRange = file.size.map { .unsatisfied(total: $0) }
        }
    }

    /// What a server of files means that refuses the part that was asked for; nil for any other
    /// end of a transfer.
    init?(refusalOfPart code: CurlCode) {
        switch code {
        case .beyondEnd: self.init(status: 416, lacksValidators: true)
        // A part of which nobody knows where it begins is what its server never is asked again.
        case .noRestart: self.init(status: 206, lacksValidators: true)
        default: return nil
        }
    }
}
