// SPDX-License-Identifier: Apache-2.0

import iDownTesting

// Wrong answers to range requests.
extension ServerFault {
    static func wrongRanges(of file: ServedFile, _ other: ServedFile) -> [ServerFault] {
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
        @Sendable func mislabelled(
            _ range: Range<Int64>,
            contentRange: String
        ) -> [FaultServer.Step] {
            let fields = [("Content-Range", contentRange), ("Content-Length", "\(range.count)")]
            return [
                .head("200 OK", file.fieldsOfAnswer + fields), .sendPattern(file.content, range),
            ]
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
            // gopeed #1460: it saved the beginning of the file many times.
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
            ServerFault(
                "the right head, wrong bytes",
                file,
                resumed: .fails,
                segmented: .completesOrFails([file.content]),
                needsDigest: true
            ) { request in
                guard let range = request.range(of: count) else { return file.answer(to: request) }
                return file.part(range, body: other.content)
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
            fault("200 over the part alone") { range in
                let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
                return mislabelled(range, contentRange: value)
            },
            fault("200 over the part alone, an odd Content-Range") { range in
                let value = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
                return mislabelled(range, contentRange: value)
            },
            fault("a body that goes on behind the part") { range in
                let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
                let fields = file.fieldsOfAnswer + [("Content-Range", value)]
                return [
                    .head("206 Partial Content", fields), .sendPattern(file.content, range),
                    .sendPattern(other.content, 0..<min(count, 100_000)), .close,
                ]
            },
            fault("chunks in a coding for the way") { range in
                let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
                let fields = [("Content-Range", value), ("Transfer-Encoding", "gzip, chunked")]
                return [
                    .head("206 Partial Content", file.fieldsOfAnswer + fields),
                    .chunk(Array("coded".utf8)), .lastChunk(),
                ]
            },
        ]
            + [
                "204 No Content", "304 Not Modified", "400 Bad Request", "412 Precondition Failed",
                "501 Not Implemented",
            ].map { status in
                fault("\(status) to every range") { _ in
                    [.head(status, [("Content-Length", "0")])]
                }
            }
    }
}
