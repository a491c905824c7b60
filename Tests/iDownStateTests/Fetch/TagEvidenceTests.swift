// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct TagEvidenceTests {
    private static let tags = ["a", "b", "c", "d"].map {
        EntityTag(opaque: "\"\($0)\"", isWeak: false)
    }
    private static let limit = TagEvidence.freeLoss

    /// What a task hears whose record has the tag `a`: `b` first, then these over new connections.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let onDisk: Int64
        let answers: [EntityTag?]
        let meaning: TagMeaning
        let isOpen: Bool

        init(
            _ description: String,
            onDisk: Int64 = limit + 1,
            _ answers: [EntityTag?],
            _ meaning: TagMeaning,
            isOpen: Bool = false
        ) {
            testDescription = description
            self.onDisk = onDisk
            self.answers = answers
            self.meaning = meaning
            self.isOpen = isOpen
        }
    }

    private static let weak = EntityTag(opaque: "\"c\"", isWeak: true)
    private static let weakened = EntityTag(opaque: tags[1].opaque, isWeak: true)

    @Test(arguments: [
        Row("a little on disk", onDisk: 1, [], .anotherFile),
        Row("16 MiB on disk", onDisk: limit, [], .anotherFile),
        Row("more on disk, nobody asked", [], .unknown, isOpen: true),
        Row("one connection asked", [tags[1]], .unknown, isOpen: true),
        Row("two asked", [tags[1], tags[1]], .unknown, isOpen: true),
        Row("three agree", [tags[1], tags[1], tags[1]], .anotherFile),
        Row("a third tag", [tags[2]], .nothing),
        Row("the third answer differs", [tags[1], tags[1], tags[3]], .nothing),
        Row("the recorded tag comes back", [tags[1], tags[0]], .unknown),
        Row("and goes again", [tags[0], tags[1]], .unknown, isOpen: true),
        Row("no tag tells nothing", [nil, nil], .unknown, isOpen: true),
        Row("three tell nothing", [nil, nil, nil], .anotherFile),
        Row("a weak tag tells", [weak], .nothing),
        Row("a tag turns weak", [weakened, tags[1], weakened], .anotherFile),
        Row("several tags, a little on disk", onDisk: 1, [tags[2]], .nothing),
    ])
    func `new connections show whether a host gives several tags`(row: Row) {
        var evidence = TagEvidence()
        evidence.note(Self.tags[1], recorded: Self.tags[0], isNewConnection: false)
        for tag in row.answers {
            evidence.note(tag, recorded: Self.tags[0], isNewConnection: true)
        }
        #expect(evidence.meaning(onDisk: row.onDisk) == row.meaning)
        #expect(evidence.isOpen(onDisk: row.onDisk) == row.isOpen)
        #expect(evidence.showsSeveralTags == (row.meaning == .nothing))
    }

    /// Without a date, it may be that of a node which has not got the new file yet.
    @Test func `the recorded tag that comes back with its date shows several tags`() {
        var evidence = TagEvidence()
        for tag in [Self.tags[1], Self.tags[0]] {
            evidence.note(tag, recorded: Self.tags[0], hasSameDate: true, isNewConnection: true)
        }
        #expect(evidence.meaning(onDisk: 1) == .nothing)
    }

    @Test func `the recorded tag alone opens no question`() {
        var evidence = TagEvidence()
        evidence.note(Self.tags[0], recorded: Self.tags[0], isNewConnection: false)
        #expect(!evidence.isOpen(onDisk: Self.limit + 1))
        evidence.note(Self.tags[1], recorded: Self.tags[0], isNewConnection: false)
        #expect(evidence.isOpen(onDisk: Self.limit + 1))
        #expect(!evidence.showsSeveralTags)
    }

    @Test func `the next attempt asks again`() {
        var evidence = TagEvidence()
        for tag in Self.tags { evidence.note(tag, recorded: Self.tags[0], isNewConnection: true) }
        #expect(evidence.meaning(onDisk: Self.limit + 1) == .nothing)
        evidence.beginAttempt()
        #expect(evidence.meaning(onDisk: Self.limit + 1) == .unknown)
        #expect(evidence.meaning(onDisk: Self.limit) == .anotherFile)
    }

    @Test func `all that a task gives up for tags counts`() {
        var evidence = TagEvidence()
        evidence.beginFile(givingUp: Self.limit / 2)
        #expect(evidence.meaning(onDisk: Self.limit / 2) == .anotherFile)
        #expect(evidence.meaning(onDisk: Self.limit / 2 + 1) == .unknown)
        evidence.beginFile(givingUp: 0)
        evidence.beginAttempt()
        #expect(evidence.givenUp == Self.limit / 2)
    }
}
