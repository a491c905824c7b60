// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// The parts of a response's head that a download uses.
package struct ResponseHead: Hashable, Sendable {
    package let facts: ResponseFacts
    /// All fields, for code that reads a field that `facts` does not cover.
    package let fields: FieldList

    /// The raw value of the field; nil if there is none.
    package var contentDisposition: [UInt8]? { fields.first("content-disposition") }
}

/// Reads a response's head from the lines that libcurl's header callback gives.
///
/// The callback gets the heads of 1xx responses, of redirects, of refused sign-ins and of the final
/// response, and then trailers. Each `HTTP/` line begins a new head. Lines after the body has begun
/// are counted but not read.
package struct HeadReader: Sendable {
    /// The most header bytes in a transfer, including all responses and trailers.
    ///
    /// libcurl and browsers have the same limit (CVE-2023-38039: endless headers).
    package static let byteLimit = 300 * 1024

    /// The complete head of the last response; nil before it is complete.
    package private(set) var head: ResponseHead?
    private var status: Int?
    /// Whether the last status line says HTTP/2.
    package private(set) var isByHTTP2 = false
    private var isBegun = false
    private var fields = FieldList()
    /// The header bytes of the transfer so far.
    package private(set) var headerBytes: Int
    private var hasBody = false
    /// Whether a line that looks like a status line came after the body began: another response if
    /// body bytes follow, else a trailer.
    ///
    /// If a server ends a stream and asks for HTTP/1.1 (RFC 9113 section 7), libcurl repeats the
    /// request by itself and delivers the file from its first byte, behind the bytes so far.
    package private(set) var hasBegunAnew = false

    /// This computer's time when the request was sent; nil if unknown.
    private let now: WallTime?

    /// Makes a reader for one response.
    ///
    /// - Parameters:
    ///   - bytesBefore: the header bytes of the transfer's earlier responses, which count too.
    ///   - now: this computer's time, for a response without Date; nil if unknown.
    package init(bytesBefore: Int = 0, now: WallTime? = nil) {
        headerBytes = bytesBefore
        self.now = now
    }

    /// Reads one raw line, line break included; called for each line in order.
    ///
    /// - Throws: `Server.BadResponse` beyond the limit; the caller then ends the transfer.
    package mutating func read(line: UnsafeRawBufferPointer) throws(Failure) {
        let (sum, overflow) = headerBytes.addingReportingOverflow(line.count)
        guard !overflow, sum <= Self.byteLimit else {
            throw .badResponse("has more than \(Self.byteLimit / 1024) KiB of headers")
        }
        headerBytes = sum
        var text = ArraySlice(line)
        guard !hasBody else {
            hasBegunAnew = hasBegunAnew || text.starts(with: "HTTP/".utf8)
            return
        }
        while let last = text.last, last == 0x0A || last == 0x0D { text.removeLast() }
        if text.starts(with: "HTTP/".utf8) {
            begin(text)
        } else if head != nil {
            // These are trailers of a body without bytes: `bodyBegan` was never called.
        } else if text.isEmpty {
            finish()
        } else {
            isBegun = true
            fields.append(line: text)
        }
    }

    /// Tells that the body has begun: lines from now on are trailers.
    ///
    /// If no head came before the body, the response is unreadable.
    package mutating func bodyBegan() {
        hasBody = true
        if head == nil { head = makeHead() }
    }

    /// Takes the facts of a response without header lines (FTP, SFTP, file).
    package mutating func take(_ facts: ResponseFacts) {
        head = ResponseHead(facts: facts, fields: FieldList())
    }

    private mutating func begin(_ statusLine: ArraySlice<UInt8>) {
        status = Self.status(statusLine)
        isByHTTP2 = statusLine.starts(with: "HTTP/2".utf8)
        isBegun = true
        fields = FieldList()
        head = nil
    }

    private mutating func finish() {
        guard isBegun else { return }
        isBegun = false
        // 101 ends HTTP on the connection, which was not requested: it is judged, not skipped.
        if let status, (100..<200).contains(status), status != 101 { return }
        head = makeHead()
    }

    private func makeHead() -> ResponseHead {
        let facts = ResponseFacts(status: status, fields: fields, now: now)
        return ResponseHead(facts: facts, fields: fields)
    }

    // MARK: The status line

    /// Returns the status, 100…999, of the first line of a response (RFC 9112 section 4), which
    /// libcurl makes up for HTTP/2; nil if the line is not of HTTP/1.0 or newer.
    private static func status(_ line: ArraySlice<UInt8>) -> Int? {
        let words = line.split(separator: 0x20, maxSplits: 2)
        guard words.count >= 2, isKnown(words[0].dropFirst("HTTP/".utf8.count)) else { return nil }
        let digits = words[1]
        guard digits.count == 3, let status = digits.decimal, status >= 100 else { return nil }
        return Int(status)
    }

    /// Whether the version is `1.0`, `1.1`, `2`, `3` or later, not `0.9`.
    private static func isKnown(_ version: ArraySlice<UInt8>) -> Bool {
        guard let first = version.first, first.isDigit, first != UInt8(ascii: "0") else {
            return false
        }
        return version.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
    }
}
