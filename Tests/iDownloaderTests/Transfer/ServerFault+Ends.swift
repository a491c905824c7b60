// SPDX-License-Identifier: Apache-2.0

import iDownTesting

// Answers that end too early, and answers without the file.
extension ServerFault {
    static func cuts(of file: ServedFile, _ other: ServedFile) -> [ServerFault] {
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
            // curl and aria2 report success: the partial file is as long as the new file.
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

    static func refusals(of file: ServedFile) -> [ServerFault] {
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
