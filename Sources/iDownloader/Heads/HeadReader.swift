// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// A response's head as far as a download cares.
package struct ResponseHead: Hashable, Sendable {
    package let facts: ResponseFacts
    /// The raw value of the field; nil where there is none.
    package let contentDisposition: [UInt8]?
    /// All fields, for those that only some responses have.
    package let fields: FieldList
}

/// Reads a response's head from the lines that libcurl's header callback gives.
///
/// Heads of 1xx, of redirects and of refused sign-ins come through the same callback as the final
/// one, and trailers after the body: each `HTTP/` line begins anew, and what comes after the body
/// has begun is counted but not read.
package struct HeadReader: Sendable {
    /// The most bytes of headers in a transfer, all its responses and trailers counted; libcurl
    /// and browsers have the same (CVE-2023-38039 was endless headers).
    package static let byteLimit = 300 * 1024

    /// The complete head of the last response; nil while there is none.
    package private(set) var head: ResponseHead?
    private var status: Int?
    /// The last status line says that HTTP/2 is spoken.
    package private(set) var isByHTTP2 = false
    private var isBegun = false
    private var fields = FieldList()
    /// The bytes of headers of the transfer so far.
    package private(set) var headerBytes: Int
    private var hasBody = false
    /// What looks like a head came behind the first bytes of the body: another answer, if bytes
    /// follow, and one of the trailers if none do.
    ///
    /// Where a server ends a stream and asks for HTTP/1.1 (RFC 9113 section 7), libcurl asks again
    /// by itself and gives the file from its first byte, behind what has come.
    package private(set) var hasBegunAnew = false

    /// Our own clock when the response was asked for.
    private let now: WallTime?

    /// Begins a response.
    ///
    /// - Parameters:
    ///   - bytesBefore: the headers of the transfer's earlier responses, which count.
    ///   - now: our own clock, for a response that does not say when it was made; nil has none.
    package init(bytesBefore: Int = 0, now: WallTime? = nil) {
        headerBytes = bytesBefore
        self.now = now
    }

    /// Reads one raw line, its end included; called for each in order.
    ///
    /// - Throws: `Server.BadResponse` beyond the limit; the transfer is to be ended.
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
            // Trailers of a body without bytes come before anybody could say that it has begun.
        } else if text.isEmpty {
            finish()
        } else {
            isBegun = true
            fields.append(line: text)
        }
    }

    /// Tells that the body has begun: what comes now are trailers.
    ///
    /// A body without a head before it makes an unreadable response.
    package mutating func bodyBegan() {
        hasBody = true
        if head == nil { head = makeHead() }
    }

    /// Takes the facts of a server that has no header lines.
    package mutating func take(_ facts: ResponseFacts) {
        head = ResponseHead(facts: facts, contentDisposition: nil, fields: FieldList())
    }

    private mutating func begin(_ statusLine: ArraySlice<UInt8>) {
        status = StatusLine.status(statusLine)
        isByHTTP2 = statusLine.starts(with: "HTTP/2".utf8)
        isBegun = true
        fields = FieldList()
        head = nil
    }

    private mutating func finish() {
        guard isBegun else { return }
        isBegun = false
        // 101 ends HTTP on the connection, which nobody asked for: it is judged, not passed over.
        if let status, (100..<200).contains(status), status != 101 { return }
        head = makeHead()
    }

    private func makeHead() -> ResponseHead {
        ResponseHead(
            facts: ResponseFacts(status: status, fields: fields, now: now),
            contentDisposition: fields.first("content-disposition").map(Array.init),
            fields: fields
        )
    }
}
