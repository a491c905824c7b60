// SPDX-License-Identifier: Apache-2.0

// Wrong answers of hosts for a file.
extension ServedFile {
    /// Returns a copy of the file with changed properties.
    package func with(_ change: (inout ServedFile) -> Void) -> ServedFile {
        var file = self
        change(&file)
        return file
    }

    /// Returns an answer with the whole file whose connection is closed in the middle of the body.
    package func cutOff(at offset: Int64) -> [FaultServer.Step] {
        [
            .head("200 OK", fieldsOfAnswer + [("Content-Length", "\(content.count)")]),
            .sendPattern(content, 0..<offset), .close,
        ]
    }

    /// Returns the whole file, whichever range was requested.
    package func withoutRanges(_ request: RecordedRequest) -> [FaultServer.Step] {
        with { $0.acceptsRanges = false }.answer(to: request)
    }

    /// Returns the answer of a host that ignores If-Range.
    package func withoutConditions(_ request: RecordedRequest) -> [FaultServer.Step] {
        let count = content.count
        guard let range = request.range(of: count) else { return answer(to: request) }
        guard !range.isEmpty else {
            let fields = [("Content-Range", "bytes */\(count)"), ("Content-Length", "0")]
            return [.head("416 Range Not Satisfiable", fieldsOfAnswer + fields)]
        }
        return part(range)
    }

    /// Returns a 206 with these bytes of the file.
    ///
    /// - Parameters:
    ///   - range: The range of the body.
    ///   - contentRange: The value of Content-Range; nil for the right one, empty for no field.
    ///   - total: The text after the slash of the right Content-Range; nil for the file's length.
    ///   - body: The content to send; nil for that of the file.
    /// - Returns: Head and body.
    package func part(
        _ range: Range<Int64>,
        contentRange: String? = nil,
        total: String? = nil,
        body: TestContent? = nil
    ) -> [FaultServer.Step] {
        var fields = fieldsOfAnswer + [("Content-Length", "\(range.count)")]
        let right =
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total ?? "\(content.count)")"
        let value = contentRange ?? right
        if !value.isEmpty { fields.append(("Content-Range", value)) }
        return [.head("206 Partial Content", fields), .sendPattern(body ?? content, range)]
    }

    /// The fields of every answer except length and range.
    package var fieldsOfAnswer: [(String, String)] {
        var all = [("Content-Type", contentType)]
        if acceptsRanges { all.append(("Accept-Ranges", "bytes")) }
        if let entityTag { all.append(("ETag", entityTag)) }
        if let lastModified { all.append(("Last-Modified", lastModified)) }
        return all + fields
    }
}
