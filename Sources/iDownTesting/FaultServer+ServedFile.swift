// SPDX-License-Identifier: Apache-2.0

/// A file on a well-behaved host: 200, 206, 416 and If-Range as RFC 9110 has them.
///
/// A value: a test changes what it needs, or uses different files for different requests.
package struct ServedFile: Sendable {
    /// A point in a body at which the host stops.
    package struct Hold: Sendable {
        /// How many bytes of a body are sent before.
        package var afterBytes: Int64
        /// Opened by the server when they have been sent.
        package var reached: FaultServer.Gate
        /// Opened by the test to let the host go on.
        package var until: FaultServer.Gate

        /// A hold with gates of its own unless others are given.
        package init(
            afterBytes: Int64,
            reached: FaultServer.Gate = .init(),
            until: FaultServer.Gate = .init()
        ) {
            self.afterBytes = afterBytes
            self.reached = reached
            self.until = until
        }
    }

    /// What is in the file.
    package var content: TestContent
    /// The ETag field with its quotes; nil sends none.
    package var entityTag: String?
    /// The Last-Modified field; nil sends none.
    package var lastModified: String?
    /// Whether ranges are served; if not, every answer is a 200.
    package var acceptsRanges = true
    /// The Content-Type field.
    package var contentType = "application/octet-stream"
    /// Further fields of every answer.
    package var fields: [(String, String)] = []
    /// How fast a body is sent; nil for as fast as possible.
    package var bytesPerSecond: Int?
    /// Where each body stops for a while; nil for nowhere.
    package var hold: Hold?

    /// A file with an ETag, served by ranges.
    package init(
        _ content: TestContent,
        entityTag: String? = "\"v1\"",
        lastModified: String? = nil
    ) {
        self.content = content
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// The correct answer to a request for this file.
    package func answer(to request: RecordedRequest) -> [FaultServer.Step] {
        let count = content.count
        let isCurrent = request["If-Range"].map { $0 == entityTag || $0 == lastModified } ?? true
        guard acceptsRanges, isCurrent, let range = request.range(of: count) else {
            return [.head("200 OK", commonFields(count))] + body(0..<count, for: request)
        }
        guard !range.isEmpty else {
            let fields = commonFields(0) + [("Content-Range", "bytes */\(count)")]
            return [.head("416 Range Not Satisfiable", fields)]
        }
        let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
        let fields = commonFields(Int64(range.count)) + [("Content-Range", value)]
        return [.head("206 Partial Content", fields)] + body(range, for: request)
    }

    private func commonFields(_ length: Int64) -> [(String, String)] {
        var common = [("Content-Length", "\(length)"), ("Content-Type", contentType)]
        if acceptsRanges { common.append(("Accept-Ranges", "bytes")) }
        if let entityTag { common.append(("ETag", entityTag)) }
        if let lastModified { common.append(("Last-Modified", lastModified)) }
        return common + fields
    }

    private func body(_ range: Range<Int64>, for request: RecordedRequest) -> [FaultServer.Step] {
        guard request.method != "HEAD" else { return [] }
        guard let hold, hold.afterBytes < range.count else {
            return [.sendPattern(content, range, bytesPerSecond: bytesPerSecond)]
        }
        let point = range.lowerBound + hold.afterBytes
        return [
            .sendPattern(content, range.lowerBound..<point, bytesPerSecond: bytesPerSecond),
            .open(hold.reached),
            .wait(for: hold.until),
            .sendPattern(content, point..<range.upperBound, bytesPerSecond: bytesPerSecond),
        ]
    }
}

extension FaultServer {
    /// A server on which every target is this file.
    package static func serving(_ file: ServedFile) throws(StartFailure) -> FaultServer {
        try FaultServer(script: Script { file.answer(to: $0) })
    }

    /// A server on which every target is a file of these bytes.
    package static func serving(
        file bytes: [UInt8],
        etag: String? = "\"v1\"",
        lastModified: String? = nil,
        ranges: Bool = true
    ) throws(StartFailure) -> FaultServer {
        var file = ServedFile(TestContent(bytes), entityTag: etag, lastModified: lastModified)
        file.acceptsRanges = ranges
        return try serving(file)
    }
}
