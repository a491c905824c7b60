// SPDX-License-Identifier: Apache-2.0

import iDownTesting

/// A fault of a real host, or a file that changes: each made at least one known downloader save a
/// mixed or broken file and report success.
///
/// The first request gets a correct answer, which a test cuts off, or holds while further
/// connections start. All later requests meet the fault.
struct ServerFault: CustomStringConvertible, Sendable {
    /// The required outcome of a download.
    enum Outcome: Sendable {
        /// The download completes as one of these versions.
        case completes([TestContent])
        /// The download completes as one of these versions, or fails.
        case completesOrFails([TestContent])
        /// The download does not complete, and keeps the bytes on disk.
        case fails
    }

    let description: String
    /// The file of the first answer.
    let file: ServedFile
    /// Makes the answers to all later requests.
    let answer: @Sendable (RecordedRequest) -> [FaultServer.Step]
    /// The outcome of a download that was cut off and resumes.
    let resumed: Outcome
    /// The outcome of a download whose further connections meet the fault while the first
    /// continues; nil if it is no fault then.
    let segmented: Outcome?
    /// Whether the fault can be noticed only with a known digest of the file.
    let needsDigest: Bool

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

    /// Returns all faults, for a file and a replacement of the same length.
    static func all(_ content: TestContent, replacement: TestContent) -> [ServerFault] {
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

    /// The file with a Last-Modified so recent that it is a weak validator.
    var young: ServedFile {
        with {
            $0.entityTag = nil
            $0.fields = [("Date", $0.lastModified ?? "")]
        }
    }
}
