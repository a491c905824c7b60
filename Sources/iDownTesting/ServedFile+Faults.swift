// SPDX-License-Identifier: Apache-2.0

// What hosts do wrong with a file.
extension ServedFile {
    /// The same file with other fields.
    package func with(_ change: (inout ServedFile) -> Void) -> ServedFile {
        var file = self
        change(&file)
        return file
    }

    /// The beginning of the whole file, and then nothing: the connection is closed in mid-body.
    package func cutOff(at offset: Int64) -> [FaultServer.Step] {
        [
            .head("200 OK", fieldsOfAnswer + [("Content-Length", "\(content.count)")]),
            .sendPattern(content, 0..<offset), .close,
        ]
    }

    /// The whole file, whatever was asked for.
    package func withoutRanges(_ request: RecordedRequest) -> [FaultServer.Step] {
        with { $0.acceptsRanges = false }.answer(to: request)
    }

    /// What a host says that does not know If-Range.
    package func withoutConditions(_ request: RecordedRequest) -> [FaultServer.Step] {
        let count = content.count
        guard let range = request.range(of: count) else { return answer(to: request) }
        guard !range.isEmpty else {
            let fields = [("Content-Range", "bytes */\(count)"), ("Content-Length", "0")]
            return [.head("416 Range Not Satisfiable", fieldsOfAnswer + fields)]
        }
        return part(range)
    }

    /// A 206 with these bytes of the file.
    ///
    /// - Parameters:
    ///   - range: what the body brings.
    ///   - contentRange: the field's value; nil for the right one, empty for none.
    ///   - total: what stands behind the slash of the right one; nil for the file's length.
    ///   - body: the bytes, where they are not those of the file.
    /// - Returns: head and body.
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

    /// The fields of every answer but for length and range.
    package var fieldsOfAnswer: [(String, String)] {
        var all = [("Content-Type", contentType)]
        if acceptsRanges { all.append(("Accept-Ranges", "bytes")) }
        if let entityTag { all.append(("ETag", entityTag)) }
        if let lastModified { all.append(("Last-Modified", lastModified)) }
        return all + fields
    }
}
