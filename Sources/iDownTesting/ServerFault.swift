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

    init(
        _ description: String,
        _ file: ServedFile,
        resumed: Outcome,
        segmented: Outcome?,
        _ answer: @escaping @Sendable (RecordedRequest) -> [FaultServer.Step]
    ) {
        self.description = description
        self.file = file
        self.answer = answer
        self.resumed = resumed
        self.segmented = segmented
    }
}

extension ServerFault {
    /// The dates of a file and of the one that replaced it, and a Date that makes both strong.
    fileprivate static let (monday, tuesday, date) = (
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

    // MARK: The file changes

    private static func changes(of file: ServedFile, to other: ServedFile) -> [ServerFault] {
        let both = Outcome.completes([file.content, other.content])
        let new = Outcome.completes([other.content])
        let half = TestContent(other.content.bytes(in: 0..<(other.content.count / 2)))
        let shrunk = other.with { $0.content = half }
        return [
            ServerFault(
                "nothing is wrong",
                file,
                resumed: .completes([file.content]),
                segmented: .completes([file.content])
            ) {
                file.answer(to: $0)
            },
            ServerFault("replaced by one of the same size", file, resumed: new, segmented: both) {
                other.answer(to: $0)
            },
            ServerFault("replaced, If-Range ignored", file, resumed: new, segmented: both) {
                other.withoutConditions($0)
            },
            ServerFault(
                "replaced, another tag and no date",
                file.undated,
                resumed: new,
                segmented: both
            ) {
                other.undated.answer(to: $0)
            },
            ServerFault(
                "replaced, another tag, no date, If-Range ignored",
                file.undated,
                resumed: new,
                segmented: both
            ) {
                other.undated.withoutConditions($0)
            },
            ServerFault("replaced, no validators", file.bare, resumed: new, segmented: both) {
                other.bare.answer(to: $0)
            },
            ServerFault("replaced, weak tags", file.weak, resumed: new, segmented: both) {
                other.weak.answer(to: $0)
            },
            ServerFault("replaced, ranges given up", file, resumed: new, segmented: both) {
                other.withoutRanges($0)
            },
            // curl 8.5.0 and wget2 call it done: what is on disk reaches beyond the new end.
            ServerFault(
                "shrank",
                file,
                resumed: .completes([half]),
                segmented: .completes([file.content, half])
            ) {
                shrunk.answer(to: $0)
            },
            ServerFault(
                "shrank, If-Range ignored",
                file,
                resumed: .completes([half]),
                segmented: .completes([file.content, half])
            ) {
                shrunk.withoutConditions($0)
            },
        ]
    }

    // MARK: Ranges

    private static func wrongRanges(of file: ServedFile, _ other: ServedFile) -> [ServerFault] {
        let right = Outcome.completes([file.content])
        let count = file.content.count
        func fault(
            _ description: String,
            _ answer: @escaping @Sendable (Range<Int64>) -> [FaultServer.Step]
        ) -> ServerFault {
            ServerFault(description, file, resumed: right, segmented: right) { request in
                guard let range = request.range(of: count) else { return file.answer(to: request) }
                return answer(range)
            }
        }
        return [
            ServerFault("200 to every range", file, resumed: right, segmented: right) {
                file.withoutRanges($0)
            },
            ServerFault(
                "206 to the first range, 200 to later ones",
                file,
                resumed: right,
                segmented: right
            ) {
                $0.number == 2 ? file.answer(to: $0) : file.withoutRanges($0)
            },
            fault("Content-Range and body from 0") { file.part(0..<Int64($0.count)) },
            fault("no Content-Range, body from 0") {
                file.part(0..<Int64($0.count), contentRange: "")
            },
            fault("no Content-Range, the right body") { file.part($0, contentRange: "") },
            // gopeed #1460: the file's head, many times over.
            fault("the right Content-Range over the whole body") { range in
                let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
                let fields = [("Content-Range", value), ("Content-Length", "\(count)")]
                return [
                    .head("206 Partial Content", file.fieldsOfAnswer + fields),
                    .sendPattern(file.content, 0..<count),
                ]
            },
            fault("chunked, Content-Range and body from 0") { range in
                let end = min(Int64(range.count), 64 << 10)
                return [
                    .head(
                        "206 Partial Content",
                        [
                            ("Transfer-Encoding", "chunked"), ("ETag", "\"v1\""),
                            ("Content-Range", "bytes 0-\(range.count - 1)/\(count)"),
                        ]
                    ),
                    .chunk(file.content.bytes(in: 0..<end)), .lastChunk(),
                ]
            },
            fault("multipart/byteranges") { _ in
                let parts = "--x\r\nContent-Type: text/plain\r\n\r\nsomething\r\n--x--\r\n"
                return [
                    .head(
                        "206 Partial Content",
                        [
                            ("Content-Type", "multipart/byteranges; boundary=x"),
                            ("Content-Length", "\(parts.utf8.count)"), ("ETag", "\"v1\""),
                        ]
                    ), .text(parts),
                ]
            },
            fault("shorter than asked") { range in
                file.part(range.lowerBound..<min(range.upperBound, range.lowerBound + count / 10))
            },
            fault("a total of *") { file.part($0, total: "*") },
            fault("416 to every range") { _ in
                [.head("416 Range Not Satisfiable", [("Content-Length", "0")])]
            },
        ]
    }

    // MARK: Validators

    private static func validators(of file: ServedFile, _ other: ServedFile) -> [ServerFault] {
        let right = Outcome.completes([file.content])
        @Sendable func tag(_ request: RecordedRequest) -> ServedFile {
            file.undated.with { $0.entityTag = "\"e\(request.number)\"" }
        }
        return [
            ServerFault(
                "another tag on each answer",
                file.undated,
                resumed: right,
                segmented: right
            ) {
                tag($0).answer(to: $0)
            },
            ServerFault(
                "another tag on each answer, If-Range ignored",
                file.undated,
                resumed: right,
                segmented: right
            ) {
                tag($0).withoutConditions($0)
            },
            ServerFault("tags that turn weak", file, resumed: right, segmented: right) {
                file.weak.with { $0.lastModified = monday }.withoutConditions($0)
            },
            ServerFault("no validators", file.bare, resumed: right, segmented: right) {
                file.bare.answer(to: $0)
            },
            ServerFault("weak tags", file.weak, resumed: right, segmented: right) {
                file.weak.answer(to: $0)
            },
            ServerFault("a date that is too young", file.young, resumed: right, segmented: right) {
                file.young.answer(to: $0)
            },
            ServerFault("200 to every If-Range", file, resumed: right, segmented: right) {
                $0["If-Range"] == nil ? file.answer(to: $0) : file.withoutRanges($0)
            },
            // Only the bytes on disk can tell, and then only where they are asked for.
            ServerFault(
                "our tag on another file's bytes, all of them",
                file,
                resumed: .completes([other.content]),
                segmented: .completes([file.content, other.content])
            ) {
                file.with { $0.content = other.content }.withoutRanges($0)
            },
        ]
    }

    // MARK: Cuts

    private static func cuts(of file: ServedFile, _ other: ServedFile) -> [ServerFault] {
        let right = Outcome.completes([file.content])
        let some = file.content.count * 3 / 8
        let local = TestContent(other.content.bytes(in: 0..<(file.content.count / 2)))
        return [
            ServerFault(
                "closed after three eighths, always",
                file,
                resumed: right,
                segmented: right
            ) { request in
                guard let range = request.range(of: file.content.count) else {
                    return file.cutOff(at: some)
                }
                let steps = file.answer(to: request)
                let end = min(range.upperBound, range.lowerBound + some)
                return steps.dropLast() + [
                    .sendPattern(file.content, range.lowerBound..<end), .close,
                ]
            },
            ServerFault(
                "closed after three eighths, always, without ranges",
                file,
                resumed: .fails,
                segmented: nil
            ) { _ in
                file.cutOff(at: some)
            },
            ServerFault(
                "closed without a length",
                file,
                resumed: .completesOrFails([file.content]),
                segmented: nil
            ) { _ in
                [
                    .head("200 OK", [("ETag", "\"v1\"")]), .sendPattern(file.content, 0..<some),
                    .close,
                ]
            },
            // curl and aria2 call it done: the length of the new file is what is on disk.
            ServerFault(
                "200 with the length of what is on disk",
                file,
                resumed: .completes([local]),
                segmented: nil
            ) { request in
                other.with { $0.content = local }.withoutRanges(request)
            },
        ]
    }

    // MARK: Refusals

    private static func refusals(of file: ServedFile) -> [ServerFault] {
        let right = Outcome.completes([file.content])
        @Sendable func says(_ status: String, _ type: String) -> [FaultServer.Step] {
            let text = "<html>{}</html>"
            let fields = [("Content-Type", type), ("Content-Length", "\(text.utf8.count)")]
            return [.head(status, fields), .text(text)]
        }
        let statuses = [
            "401 Unauthorized", "403 Forbidden", "404 Not Found", "410 Gone",
            "503 Service Unavailable",
            "429 Too Many Requests", "500 Internal Server Error", "204 No Content",
        ]
        return statuses.map { status in
            ServerFault(status, file, resumed: .fails, segmented: right) { _ in
                says(status, "text/html")
            }
        }
            + ["text/html", "application/json"].map { type in
                ServerFault(
                    "200 with \(type) in place of the file",
                    file,
                    resumed: .fails,
                    segmented: right
                ) { _ in
                    says("200 OK", type)
                }
            } + [
                ServerFault("a reset before an answer", file, resumed: .fails, segmented: right) {
                    _ in
                    [.reset]
                }
            ]
    }
}

extension ServedFile {
    fileprivate var undated: ServedFile { with { $0.lastModified = nil } }

    fileprivate var bare: ServedFile {
        with { ($0.entityTag, $0.lastModified) = (nil, nil) }
    }

    fileprivate var weak: ServedFile {
        bare.with { $0.entityTag = entityTag.map { "W/" + $0 } }
    }

    /// A date that may be changed again within its second.
    fileprivate var young: ServedFile {
        with {
            $0.entityTag = nil
            $0.fields = [("Date", $0.lastModified ?? "")]
        }
    }
}
