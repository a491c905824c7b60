// SPDX-License-Identifier: Apache-2.0

import iDownTesting

// Files that change during a download, and validators that do not show the change.
extension ServerFault {
    static func changes(of file: ServedFile, to other: ServedFile) -> [ServerFault] {
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
            ServerFault("replaced, no validators", file.bare, resumed: new, segmented: nil) {
                other.bare.answer(to: $0)
            },
            ServerFault("replaced, weak tags", file.weak, resumed: new, segmented: nil) {
                other.weak.answer(to: $0)
            },
            ServerFault("replaced, ranges given up", file, resumed: new, segmented: both) {
                other.withoutRanges($0)
            },
            // curl 8.5.0 and wget2 report success: the partial file reaches beyond the new end.
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

    static func validators(of file: ServedFile, _ other: ServedFile) -> [ServerFault] {
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
            ServerFault("no validators", file.bare, resumed: right, segmented: nil) {
                file.bare.answer(to: $0)
            },
            ServerFault("weak tags", file.weak, resumed: right, segmented: nil) {
                file.weak.answer(to: $0)
            },
            ServerFault("a date that is too young", file.young, resumed: right, segmented: nil) {
                file.young.answer(to: $0)
            },
            ServerFault("200 to every If-Range", file, resumed: right, segmented: right) {
                $0["If-Range"] == nil ? file.answer(to: $0) : file.withoutRanges($0)
            },
            // Only a comparison with the bytes on disk shows the change, and only where the host
            // sends them again.
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
}
