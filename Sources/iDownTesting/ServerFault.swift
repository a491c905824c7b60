// SPDX-License-Identifier: Apache-2.0

/// A host that gets something wrong, or a file that changes, as seen in the field: each made at
/// least one known downloader save a mixed or broken file and report success.
///
/// The first request is answered well, but for what a test does to it: it is cut off, or held
/// while further connections join. What comes after it is the fault.
package struct ServerFault: CustomStringConvertible, Sendable {
    /// What must become of a download.
    package enum Outcome: Sendable {
        /// It is completed, as one of these versions.
        case completes([TestContent])
        /// It is completed as one of these versions, or not at all.
        case completesOrFails([TestContent])
        /// It is never completed, and what is on disk is kept.
        case fails
    }

    package let description: String
    /// The file of the first answer.
    package let file: ServedFile
    /// What all later requests are answered with.
    package let answer: @Sendable (RecordedRequest) -> [FaultServer.Step]
    /// What becomes of a download that goes on after it was cut off.
    package let resumed: Outcome
    /// What becomes of a download whose further connections meet the fault while the first goes
    /// on; nil where the fault is none then.
    package let segmented: Outcome?
    /// The fault shows only where a digest of the file is known.
    package let needsDigest: Bool

    init(
        _ description: String,
        _ file: ServedFile,
        resumed: Outcome,
        segmented: Outcome?,
        needsDigest: Bool = false,
        _ answer: @escaping @Sendable (RecordedRequest) -> [FaultServer.Step]
    ) {
        self.description = description
        self.file = file
        self.answer = answer
        self.resumed = resumed
        self.segmented = segmented
        self.needsDigest = needsDigest
    }
}

extension ServerFault {
    /// The dates of a file and of the one that replaced it, and a Date that makes both strong.
    static let (monday, tuesday, date) = (
        "Mon, 02 Nov 2026 10:00:00 GMT", "Tue, 03 Nov 2026 10:00:00 GMT",
        ("Date", "Sat, 21 Nov 2026 09:00:00 GMT")
    )

    /// All of them, for a file and another of the same length.
    package static func all(_ content: TestContent, replacement: TestContent) -> [ServerFault] {
        let file = ServedFile(content, lastModified: monday).with { $0.fields = [date] }
        let other = ServedFile(replacement, entityTag: "\"v2\"", lastModified: tuesday)
            .with { $0.fields = [date] }
        return changes(of: file, to: other) + wrongRanges(of: file, other)
            + validators(of: file, other) + cuts(of: file, other) + refusals(of: file)
    }
}

extension ServedFile {
    var undated: ServedFile { with { $0.lastModified = nil } }

    var bare: ServedFile {
        with { ($0.entityTag, $0.lastModified) = (nil, nil) }
    }

    var weak: ServedFile {
        bare.with { $0.entityTag = entityTag.map { "W/" + $0 } }
    }

    /// A date that may be changed again within its second.
    var young: ServedFile {
        with {
            $0.entityTag = nil
            $0.fields = [("Date", $0.lastModified ?? "")]
        }
    }
}
