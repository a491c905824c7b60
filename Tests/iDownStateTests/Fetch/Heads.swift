// SPDX-License-Identifier: Apache-2.0

@testable import iDownState

/// The words that the judgement's tests are written in: a file of 8 bytes, its first 3 on disk.
enum Heads {
    static let tag = EntityTag(opaque: "\"a\"", isWeak: false)
    static let weakTag = EntityTag(opaque: "\"a\"", isWeak: true)
    static let otherTag = EntityTag(opaque: "\"b\"", isWeak: false)
    static let date = LastModified(field: "Sat, 01 Aug 2026 10:00:00 GMT", isStrong: true)
    static let freshDate = LastModified(field: "Sat, 01 Aug 2026 10:00:00 GMT", isStrong: false)
    static let otherDate = LastModified(field: "Sun, 02 Aug 2026 10:00:00 GMT", isStrong: true)

    /// What is known of the file, with a strong tag.
    static let known = RemoteVersion(total: 8, entityTag: tag, servesRanges: true)
    /// The same, with a strong date only.
    static let dated = RemoteVersion(total: 8, lastModified: date, servesRanges: true)

    static let rest = Ask.rest(from: 3, ifRange: "\"a\"")
    static let plainRest = Ask.rest(from: 3, ifRange: nil)
    static let datedRest = Ask.rest(from: 3, ifRange: date.field)

    /// The bytes from `first` to before `end`, of `total`.
    static func range(_ first: Int64, _ end: Int64, of total: Int64?) -> ContentRange? {
        ByteRange(from: first, to: end).map { .satisfied($0, total: total) }
    }

    /// A 200 that brings all 8 bytes.
    static func whole(
        _ tag: EntityTag? = tag,
        _ date: LastModified? = nil,
        length: ContentLength = .bytes(8),
        acceptsRanges: Bool = true,
        refusesRanges: Bool = false,
        encoding: String? = nil
    ) -> ResponseFacts {
        ResponseFacts(
            status: 200,
            contentLength: length,
            entityTag: tag,
            lastModified: date,
            acceptsRanges: acceptsRanges,
            refusesRanges: refusesRanges,
            contentEncoding: encoding,
            mimeType: "application/zip"
        )
    }

    /// A 206 that brings the last 5 bytes.
    static func part(
        _ range: ContentRange? = range(3, 8, of: 8),
        _ tag: EntityTag? = tag,
        _ date: LastModified? = nil,
        length: ContentLength = .unknown,
        encoding: String? = nil,
        mimeType: String = "application/zip"
    ) -> ResponseFacts {
        ResponseFacts(
            status: 206,
            contentLength: length,
            contentRange: range,
            entityTag: tag,
            lastModified: date,
            contentEncoding: encoding,
            mimeType: mimeType
        )
    }

    /// A 416.
    static func unsatisfied(
        _ range: ContentRange?,
        _ tag: EntityTag? = tag
    ) -> ResponseFacts {
        ResponseFacts(status: 416, contentRange: range, entityTag: tag)
    }
}

/// The outline of a judgement, where the rest of it is shown by another test.
enum Verdict: String, Sendable {
    case begin, resume, compare, prove, check, complete, redirect, fail
    case askWhole, askPlainRest, askOverlap, askSample

    init(_ judgement: Judgement) {
        switch judgement {
        case .begin: self = .begin
        case .resume: self = .resume
        case .compare: self = .compare
        case .prove: self = .prove
        case .check: self = .check
        case .complete: self = .complete
        case .askAgain(.whole, _): self = .askWhole
        case .askAgain(.rest, _), .askAgain(.part, _): self = .askPlainRest
        case .askAgain(.overlap, _): self = .askOverlap
        case .askAgain(.sample, _), .askAgain(.ending, _): self = .askSample
        case .redirect: self = .redirect
        case .fail: self = .fail
        }
    }
}

extension Judgement {
    /// The version that the judgement would have recorded; nil where it brings none.
    var version: RemoteVersion? {
        switch self {
        case .begin(let version), .resume(let version), .compare(let version),
            .prove(let version, _), .complete(let version), .askAgain(_, let version):
            version
        case .check, .redirect, .fail: nil
        }
    }

    var failure: Failure? {
        if case .fail(let failure) = self { return failure }
        return nil
    }
}
