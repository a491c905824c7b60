// SPDX-License-Identifier: Apache-2.0

extension FaultServer {
    /// A server's behaviour: a list of steps for each request.
    package struct Script: Sendable {
        let answer: @Sendable (RecordedRequest) -> [Step]

        /// - Parameter answer: Called once for each request, on the connection's thread.
        package init(_ answer: @escaping @Sendable (RecordedRequest) -> [Step]) {
            self.answer = answer
        }
    }

    /// One action of a server on a connection.
    ///
    /// After the last step the connection waits for its next request. The script ends early if the
    /// peer closes the connection.
    package enum Step: Sendable {
        /// Sends bytes that do not count as a body: status lines, header lines.
        case sendHead([UInt8])
        /// Sends bytes that count as a body.
        case send([UInt8])
        /// Sends a range of a content, at a limited rate if one is given.
        case sendPattern(TestContent, Range<Int64>, bytesPerSecond: Int? = nil)
        /// Sends the same bytes again and again until the peer closes the connection.
        case sendForever([UInt8])
        /// Waits until the gate is open.
        case wait(for: Gate)
        /// Opens a gate, so that a test knows that the script has reached this step.
        case open(Gate)
        /// Closes the connection normally.
        case close
        /// Resets the connection after the peer has acknowledged all bytes.
        case reset
        /// Does nothing more until the peer closes the connection or the server stops.
        case stall
    }
}

extension FaultServer.Step {
    /// Sends a status line, header lines and the empty line after them.
    ///
    /// The status is code and reason, for example `206 Partial Content`. Fields are sent in this
    /// order, and a name may occur twice.
    package static func head(_ status: String, _ fields: [(String, String)] = []) -> Self {
        let lines = ["HTTP/1.1 \(status)"] + fields.map { "\($0): \($1)" }
        return .sendHead(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
    }

    /// Sends a status line and header lines as given; adds nothing.
    package static func rawHead(_ text: String) -> Self { .sendHead(Array(text.utf8)) }

    /// Sends text that counts as a body.
    package static func text(_ text: String) -> Self { .send(Array(text.utf8)) }

    /// Sends one chunk of the chunked coding (RFC 9112 section 7.1); an empty chunk is the last.
    package static func chunk(_ bytes: [UInt8]) -> Self {
        let size = String(bytes.count, radix: 16)
        return .send(Array("\(size)\r\n".utf8) + bytes + Array("\r\n".utf8))
    }

    /// Sends the last chunk and trailer fields after it.
    package static func lastChunk(trailers: [(String, String)] = []) -> Self {
        .text("0\r\n" + trailers.map { "\($0): \($1)\r\n" }.joined() + "\r\n")
    }
}
