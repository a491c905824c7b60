// SPDX-License-Identifier: Apache-2.0

extension FaultServer {
    /// What a server answers: a list of steps for each request.
    package struct Script: Sendable {
        let answer: @Sendable (RecordedRequest) -> [Step]

        /// - Parameter answer: Called once for each request, on the connection's thread.
        package init(_ answer: @escaping @Sendable (RecordedRequest) -> [Step]) {
            self.answer = answer
        }
    }

    /// One thing that a server does to a connection.
    ///
    /// After the last step the connection waits for its next request. A peer that goes away ends
    /// the script at once.
    package enum Step: Sendable {
        /// Sends bytes that do not count as a body: status lines, header lines.
        case sendHead([UInt8])
        /// Sends bytes that count as a body.
        case send([UInt8])
        /// Sends a part of a content, at a limited rate if one is given.
        case sendPattern(TestContent, Range<Int64>, bytesPerSecond: Int? = nil)
        /// Sends the same bytes again and again until the peer has gone.
        case sendForever([UInt8])
        /// Does not go on before the gate is open.
        case wait(for: Gate)
        /// Opens a gate, so that a test knows that the script has come here.
        case open(Gate)
        /// Closes the connection in good order.
        case close
        /// Closes the connection by a reset, once the peer has acknowledged what was sent.
        case reset
        /// Does nothing more until the peer has gone or the server stops.
        case stall
    }
}

extension FaultServer.Step {
    /// A status line and header lines, ended by the empty line.
    ///
    /// The status is code and reason, for example `206 Partial Content`; fields go out in order,
    /// and a name may come twice.
    package static func head(_ status: String, _ fields: [(String, String)] = []) -> Self {
        let lines = ["HTTP/1.1 \(status)"] + fields.map { "\($0): \($1)" }
        return .sendHead(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
    }

    /// A status line and header lines as they are: nothing is added.
    package static func rawHead(_ text: String) -> Self { .sendHead(Array(text.utf8)) }

    /// Text that counts as a body.
    package static func text(_ text: String) -> Self { .send(Array(text.utf8)) }

    /// One chunk of the chunked coding (RFC 9112 section 7.1); the empty one is the last.
    package static func chunk(_ bytes: [UInt8]) -> Self {
        let size = String(bytes.count, radix: 16)
        return .send(Array("\(size)\r\n".utf8) + bytes + Array("\r\n".utf8))
    }

    /// The last chunk with trailer fields behind it.
    package static func lastChunk(trailers: [(String, String)] = []) -> Self {
        .text("0\r\n" + trailers.map { "\($0): \($1)\r\n" }.joined() + "\r\n")
    }
}
