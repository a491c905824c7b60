// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct ValidatorsTests {
    static let strong = EntityTag(opaque: "\"a\"", isWeak: false)
    static let weak = EntityTag(opaque: "\"a\"", isWeak: true)
    static let otherWeak = EntityTag(opaque: "\"b\"", isWeak: true)
    static let otherTag = EntityTag(opaque: "\"b\"", isWeak: false)
    static let date = LastModified(field: "Sat, 01 Aug 2026 10:00:00 GMT", isStrong: true)
    static let fresh = LastModified(field: "Sat, 01 Aug 2026 10:00:00 GMT", isStrong: false)
    static let otherDate = LastModified(field: "Sun, 02 Aug 2026 10:00:00 GMT", isStrong: true)

    @Test(
        arguments: [
            (nil, nil, nil),
            (strong, nil, "\"a\""),
            (strong, date, "\"a\""),
            (weak, nil, nil),
            (weak, date, "Sat, 01 Aug 2026 10:00:00 GMT"),
            (weak, fresh, nil),
            (nil, date, "Sat, 01 Aug 2026 10:00:00 GMT"),
            (nil, fresh, nil),
        ] as [(EntityTag?, LastModified?, String?)]
    )
    func `a strong tag goes into If-Range, else a strong date, else nothing`(
        tag: EntityTag?,
        date: LastModified?,
        validator: String?
    ) {
        #expect(RemoteVersion(entityTag: tag, lastModified: date).strongValidator == validator)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let known: (EntityTag?, LastModified?)
        let other: (EntityTag?, LastModified?)
        let isSame: Bool

        init(
            _ description: String,
            _ known: (EntityTag?, LastModified?),
            _ other: (EntityTag?, LastModified?),
            _ isSame: Bool
        ) {
            testDescription = description
            self.known = known
            self.other = other
            self.isSame = isSame
        }
    }

    @Test(arguments: [
        Row("equal strong tags", (strong, nil), (strong, nil), true),
        Row("equal strong tags and dates", (strong, date), (strong, date), true),
        Row("a date that the other lacks", (strong, date), (strong, nil), true),
        Row("a date that is new", (strong, nil), (strong, date), true),
        Row("equal strong tags, another date", (strong, date), (strong, otherDate), false),
        Row("other strong tags", (strong, date), (otherTag, date), false),
        Row("a tag that turned weak", (strong, nil), (weak, nil), false),
        Row("a tag that turned strong", (weak, nil), (strong, nil), false),
        Row("equal weak tags", (weak, nil), (weak, nil), false),
        Row("no tag any more", (strong, date), (nil, date), false),
        Row("equal strong dates", (nil, date), (nil, date), true),
        Row("equal strong dates and weak tags", (weak, date), (weak, date), true),
        Row("equal strong dates, other tags", (weak, date), (otherTag, date), false),
        Row("other strong dates", (nil, date), (nil, otherDate), false),
        Row("equal dates, too fresh", (nil, fresh), (nil, fresh), false),
        Row("equal dates, once too fresh", (nil, fresh), (nil, date), false),
        Row("no date any more", (nil, date), (nil, nil), false),
        Row("nothing at all", (nil, nil), (nil, nil), false),
    ])
    func `a version is known again by its strong validator alone`(row: Row) {
        let known = RemoteVersion(entityTag: row.known.0, lastModified: row.known.1)
        let other = RemoteVersion(entityTag: row.other.0, lastModified: row.other.1)
        #expect(known.isSame(as: other) == row.isSame)
    }

    @Test func `resumable is what has ranges, a length and a strong validator`() {
        var version = RemoteVersion(total: 8, entityTag: Self.strong, servesRanges: true)
        #expect(version.isResumable)
        version.total = nil
        #expect(!version.isResumable)
        version = RemoteVersion(total: 8, entityTag: Self.weak, servesRanges: true)
        #expect(!version.isResumable)
        version = RemoteVersion(total: 8, entityTag: Self.strong)
        #expect(!version.isResumable)
    }

    @Test func `a server that is not asked for ranges is the same version still`() {
        let version = RemoteVersion(total: 8, entityTag: Self.strong, servesRanges: true)
        let without = version.withoutRanges
        #expect(!without.servesRanges && without.refusesRanges)
        #expect(version.isSame(as: without))
        #expect(without.total == 8)
    }

    @Test(
        arguments: [
            (8, strong, nil, .validators),
            (8, nil, date, .validators),
            (8, weak, nil, .length),
            (8, nil, fresh, .length),
            (8, nil, nil, .length),
            (nil, nil, nil, Integrity.none),
            (nil, weak, fresh, Integrity.none),
            // Without a length an early close cannot be told from the end.
            (nil, strong, nil, Integrity.none),
            (nil, nil, date, Integrity.none),
        ] as [(Int64?, EntityTag?, LastModified?, Integrity)]
    )
    func `what a finished file is known to be`(
        total: Int64?,
        tag: EntityTag?,
        date: LastModified?,
        integrity: Integrity
    ) {
        let version = RemoteVersion(total: total, entityTag: tag, lastModified: date)
        #expect(version.provenIntegrity == integrity)
        var request = TaskRequest(url: "https://host.example/f", directory: "/")
        request.expectedSize = 8
        let isOfSize = integrity == Integrity.none
        #expect(request.provenIntegrity(of: version) == (isOfSize ? .length : integrity))
    }
}
