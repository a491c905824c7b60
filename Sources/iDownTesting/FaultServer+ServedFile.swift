// SPDX-License-Identifier: Apache-2.0

/// A file on a correct host: 200, 206, 416 and If-Range as in RFC 9110.
///
/// It is a value: a test changes its properties, or answers requests from different files.
package struct ServedFile: Sendable {
    /// A point in a body at which the host stops.
    package struct Hold: Sendable {
        /// The number of bytes of each body that are sent before the host stops.
        package var afterBytes: Int64
        /// The gate that the server opens when these bytes were sent.
        package let reached = FaultServer.Gate()
        /// The gate that the test opens to let the host continue.
        package var until: FaultServer.Gate

        /// Makes a hold, with a new gate unless one is given.
        package init(afterBytes: Int64, until: FaultServer.Gate = .init()) {
            self.afterBytes = afterBytes
            self.until = until
        }
    }

    /// The content of the file.
    package var content: TestContent
    /// The ETag field with its quotes; nil sends none.
    package var entityTag: String?
    /// The Last-Modified field; nil sends none.
    package var lastModified: String?
    /// Whether ranges are served; if not, every answer has the status 200.
    package var acceptsRanges = true
    /// The Content-Type field.
    package var contentType = "application/octet-stream"
    /// Further fields of every answer.
    package var fields: [(String, String)] = []
    /// How fast a body is sent; nil for as fast as possible.
    package var bytesPerSecond: Int?
    /// Where each body stops until the test continues it; nil if it does not stop.
    package var hold: Hold?

    /// Makes a file with an ETag that is served in ranges.
    package init(
        _ content: TestContent,
        entityTag: String? = "\"v1\"",
        lastModified: String? = nil
    ) {
        self.content = content
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Returns the correct answer to a request for this file.
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
    /// Starts a server on which every target is this file.
    package static func serving(_ file: ServedFile) throws(StartFailure) -> FaultServer {
        try FaultServer(script: Script { file.answer(to: $0) })
    }

    /// Starts a server on which every target is a file of these bytes.
    package static func serving(file bytes: [UInt8]) throws(StartFailure) -> FaultServer {
        try serving(ServedFile(TestContent(bytes)))
    }
}
