// SPDX-License-Identifier: Apache-2.0

/// What an ETag means that differs from the recorded one.
package enum TagMeaning: CaseIterable, Hashable, Sendable {
    /// The host has another file now.
    case anotherFile
    /// Nothing: another host gave the recorded ETag, or this host gives one file several.
    case nothing
    /// It is unknown yet: the host has to be asked over new connections.
    case unknown
}

/// What a task has learned about the ETags of its file.
///
/// Another ETag means another file, unless the host gives several ETags for one unchanged file.
/// Another weak ETag means it as well: equal weak ETags promise nothing, but a server changes its
/// ETag when the file has changed (RFC 9110 section 8.8.1). Before a task gives up more than 16 MiB
/// for another ETag, it asks for samples of the file over three new connections. If the ETags of
/// those answers differ, they say nothing about the file, and the bytes decide (``OverlapProof``).
package struct TagEvidence: Hashable, Sendable {
    /// How many bytes a task gives up for another ETag without asking first (16 MiB): to fetch them
    /// again takes seconds on most lines.
    package static let freeLoss: Int64 = 16 << 20
    /// How many new connections are asked: one edge server of a network often gives one ETag only,
    /// and several connections reach several edge servers.
    package static let answers = 3

    /// How many bytes the task has given up because of another ETag alone.
    package private(set) var givenUp: Int64 = 0
    /// The opaque parts of the ETags in this attempt's answers, beginning with the first one that
    /// differs from the recorded ETag.
    private var seen: Set<String> = []
    private var answersLeft = Self.answers
    /// Whether the last ETag was the recorded one again: of the host's nodes, one that has the file
    /// answers.
    private var isAtRecorded = false

    package init() {}

    /// Whether this attempt's answers had several ETags.
    package var showsSeveralTags: Bool { seen.count > 1 }

    /// Whether an answer of this attempt had another ETag than the recorded one.
    package var hasSeenAnother: Bool { !seen.isEmpty }

    /// Whether new connections have to be asked before another ETag means anything.
    ///
    /// - Parameter onDisk: the number of bytes that another file would cost.
    /// - Returns: whether to ask; false also where every answer, or the last one, had the recorded
    ///   ETag.
    package func isOpen(onDisk: Int64) -> Bool {
        hasSeenAnother && !isAtRecorded && meaning(onDisk: onDisk) == .unknown
    }

    /// Judges an ETag that differs from the recorded one, at the host that gave both.
    ///
    /// - Parameter onDisk: the number of bytes that another file would cost.
    /// - Returns: what the ETag means, as far as this attempt's answers show.
    package func meaning(onDisk: Int64) -> TagMeaning {
        if showsSeveralTags { return .nothing }
        guard answersLeft > 0, givenUp + onDisk > Self.freeLoss else { return .anotherFile }
        return .unknown
    }

    /// Takes note of an answer's ETag.
    ///
    /// - Parameters:
    ///   - tag: the answer's ETag; nil where it has none.
    ///   - recorded: the recorded ETag.
    ///   - hasSameDate: whether the answer has the recorded date. Without it, the recorded ETag that
    ///     comes back may be that of a host which has not got the new file yet.
    ///   - isNewConnection: whether the connection was made to see the ETag.
    package mutating func note(
        _ tag: EntityTag?,
        recorded: EntityTag,
        hasSameDate: Bool = false,
        isNewConnection: Bool
    ) {
        if isNewConnection { answersLeft = max(0, answersLeft - 1) }
        guard let tag else { return }
        isAtRecorded = tag.matches(recorded)
        if !isAtRecorded || hasSeenAnother && hasSameDate { seen.insert(tag.opaque) }
    }

    /// Starts anew with another file; `count` bytes were given up because of another ETag alone.
    package mutating func beginFile(givingUp count: Int64) {
        beginAttempt()
        givenUp += count
    }

    /// Forgets the ETags of the last attempt: they say nothing about the host's present file.
    package mutating func beginAttempt() {
        seen = []
        isAtRecorded = false
        answersLeft = Self.answers
    }
}
