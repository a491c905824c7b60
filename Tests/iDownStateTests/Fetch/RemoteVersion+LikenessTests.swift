// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct RemoteVersionLikenessTests {
    private typealias V = ValidatorsTests

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let known: RemoteVersion
        let other: RemoteVersion
        let otherTag: TagMeaning
        let likeness: Likeness

        init(
            _ description: String,
            _ known: (EntityTag?, LastModified?),
            _ other: (EntityTag?, LastModified?),
            totals: (Int64?, Int64?) = (8, 8),
            needsProof: Bool = false,
            otherTag: TagMeaning = .anotherFile,
            _ likeness: Likeness
        ) {
            testDescription = description
            self.known = RemoteVersion(
                total: totals.0,
                entityTag: known.0,
                lastModified: known.1,
                needsProof: needsProof
            )
            self.other = RemoteVersion(
                total: totals.1,
                entityTag: other.0,
                lastModified: other.1
            )
            self.otherTag = otherTag
            self.likeness = likeness
        }
    }

    @Test(arguments: [
        Row("equal strong tags", (V.strong, nil), (V.strong, nil), .same),
        Row("equal strong tags and dates", (V.strong, V.date), (V.strong, V.date), .same),
        Row("equal strong dates", (nil, V.date), (nil, V.date), .same),
        Row("other tags, no date", (V.strong, nil), (V.otherTag, nil), .changed),
        Row("other tags, the same date", (V.strong, V.date), (V.otherTag, V.date), .changed),
        Row("other tags, a date that is gone", (V.strong, V.date), (V.otherTag, nil), .changed),
        Row(
            "other tags of several",
            (V.strong, nil),
            (V.otherTag, nil),
            otherTag: .nothing,
            .unproven
        ),
        Row(
            "other tags, not asked yet",
            (V.strong, V.date),
            (V.otherTag, V.date),
            otherTag: .unknown,
            .unproven
        ),
        Row(
            "other tags of several, another date",
            (V.strong, V.date),
            (V.otherTag, V.otherDate),
            otherTag: .nothing,
            .changed
        ),
        Row("a weak tag for a strong one", (V.strong, nil), (V.weak, nil), .unproven),
        Row(
            "another URL, another tag",
            (V.strong, nil),
            (V.otherTag, nil),
            needsProof: true,
            .unproven
        ),
        Row("other tags, another date", (V.strong, V.date), (V.otherTag, V.otherDate), .changed),
        Row("equal tags, another date", (V.strong, V.date), (V.strong, V.otherDate), .changed),
        Row("another date", (nil, V.date), (nil, V.otherDate), .changed),
        Row("equal weak tags", (V.weak, nil), (V.weak, nil), .unproven),
        Row("other weak tags", (V.weak, nil), (V.otherWeak, nil), .changed),
        Row("a strong tag for another weak one", (V.otherWeak, nil), (V.strong, nil), .changed),
        Row(
            "other weak tags of several",
            (V.weak, nil),
            (V.otherWeak, nil),
            otherTag: .nothing,
            .unproven
        ),
        Row("equal dates, too young", (nil, V.fresh), (nil, V.fresh), .unproven),
        Row("no validator any more", (V.strong, nil), (nil, nil), .unproven),
        Row("no validator at all", (nil, nil), (nil, nil), .unproven),
        Row("another length", (V.strong, nil), (V.strong, nil), totals: (8, 9), .changed),
        Row("no length, a strong tag", (V.strong, nil), (V.strong, nil), totals: (8, nil), .same),
        Row(
            "no length, other tags",
            (V.strong, nil),
            (V.otherTag, nil),
            totals: (8, nil),
            .changed
        ),
        Row(
            "never a length, a strong tag",
            (V.strong, nil),
            (V.strong, nil),
            totals: (nil, nil),
            .same
        ),
        Row("never a length, no tag", (nil, nil), (nil, nil), totals: (nil, nil), .changed),
        Row("a length at last", (V.strong, nil), (V.strong, nil), totals: (nil, 8), .changed),
        Row(
            "another URL, equal tags",
            (V.strong, V.date),
            (V.strong, V.date),
            needsProof: true,
            .unproven
        ),
        Row(
            "another URL, another date",
            (nil, V.date),
            (nil, V.otherDate),
            needsProof: true,
            .unproven
        ),
        Row(
            "another URL, another length",
            (V.strong, nil),
            (V.strong, nil),
            totals: (8, 9),
            needsProof: true,
            .changed
        ),
    ])
    func `bytes prove where validators do not, unless something speaks against it`(row: Row) {
        #expect(row.known.likeness(of: row.other, otherTag: row.otherTag) == row.likeness)
    }
}
