// SPDX-License-Identifier: Apache-2.0

/// What an ETag says that differs from the one on record.
package enum TagMeaning: CaseIterable, Hashable, Sendable {
    /// The host has another file now.
    case anotherFile
    /// Nothing: another host gave the tag on record, or this host gives one file several tags.
    case nothing
    /// Nobody knows yet: the host has to be asked over new connections.
    case unknown
}

/// What a task has learned about the ETags of its file.
///
/// Another tag means another file, unless the host gives several tags for one unchanged file. A
/// weak tag means it as well: equal weak tags promise nothing, but a server changes its tag where
/// the file has changed (RFC 9110 section 8.8.1). Before a task gives up more than 16 MiB for such tags, it asks for windows of the file over
/// three new connections: tags that differ among these answers say nothing about the file, and then
/// the bytes decide (``OverlapProof``).
package struct TagEvidence: Hashable, Sendable {
    /// The bytes that a task gives up for another tag without asking first (16 MiB): to fetch them
    /// again costs seconds on most lines.
    package static let freeLoss: Int64 = 16 << 20
    /// How many new connections are asked: edges of a network often keep to one tag, and several
    /// connections reach several edges.
    package static let answers = 3

    /// The bytes that the task has given up because of another tag alone.
    package private(set) var givenUp: Int64 = 0
    /// The opaque parts of the tags of this attempt's answers, from the first that differs from the
    /// record on.
    private var heard: Set<String> = []
    private var answersLeft = Self.answers

    package init() {}

    /// Whether this attempt's answers had several tags.
    package var showsSeveralTags: Bool { heard.count > 1 }

    /// Whether new connections are to be asked before another tag means anything.
    ///
    /// - Parameter onDisk: the bytes that another file would cost.
    /// - Returns: false as well where every answer had the tag on record.
    package func isOpen(onDisk: Int64) -> Bool {
        !heard.isEmpty && meaning(onDisk: onDisk) == .unknown
    }

    /// Judges another tag at the host that gave the one on record.
    ///
    /// - Parameter onDisk: the bytes that another file would cost.
    /// - Returns: what the tag means, as far as this attempt's answers show.
    package func meaning(onDisk: Int64) -> TagMeaning {
        if showsSeveralTags { return .nothing }
        guard answersLeft > 0, givenUp + onDisk > Self.freeLoss else { return .anotherFile }
        return .unknown
    }

    /// Takes note of an answer's tag.
    ///
    /// - Parameters:
    ///   - tag: the answer's tag; nil where it has none.
    ///   - recorded: the tag on record.
    ///   - isNewConnection: whether the question went out over a connection made for it.
    package mutating func hear(
        _ tag: EntityTag?,
        recorded: EntityTag,
        isNewConnection: Bool
    ) {
        if isNewConnection { answersLeft = max(0, answersLeft - 1) }
        guard let tag, !tag.matches(recorded) || !heard.isEmpty else { return }
        heard.insert(tag.opaque)
    }

    /// The file begins anew; `count` bytes are given up for another tag alone.
    package mutating func beginFile(givingUp count: Int64) {
        beginAttempt()
        givenUp += count
    }

    /// Forgets the answers of the attempt before: they say nothing about the host's present file.
    package mutating func beginAttempt() {
        heard = []
        answersLeft = Self.answers
    }
}
