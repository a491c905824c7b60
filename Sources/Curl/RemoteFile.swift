// SPDX-License-Identifier: Apache-2.0

/// What an FTP or SFTP server says about a file before it sends it.
public struct RemoteFile: Hashable, Sendable {
    /// The file's size in bytes; nil where the server does not tell.
    public var size: Int64?
    /// When it was last changed, in seconds since 1970 UTC; nil where the server does not tell.
    public var modified: Int64?
    /// Where the requested range begins; nil where the whole file was requested.
    public var offset: Int64?
    /// How many bytes are about to come; nil where the server does not tell.
    public var length: Int64?

    /// Takes all values as they are.
    public init(size: Int64?, modified: Int64?, offset: Int64?, length: Int64?) {
        self.size = size
        self.modified = modified
        self.offset = offset
        self.length = length
    }
}

/// An FTP server's replies on its control connection, as far as they are about the file.
struct ControlReplies {
    /// The most bytes of replies in a transfer; without a limit a greeting could go on forever.
    static let byteLimit = 300 * 1024

    private var byteCount = 0
    /// The numbers in replies 213, in order: MDTM's time, then SIZE's count (RFC 3659).
    private var numbers: [Int64] = []
    /// The lines of replies 530, which refuse a login.
    private(set) var loginRefusal = ""

    /// Reads a line with its end; returns false beyond the limit.
    mutating func read(_ line: UnsafeRawBufferPointer) -> Bool {
        byteCount += line.count
        if line.starts(with: "530".utf8) { loginRefusal += String(decoding: line, as: UTF8.self) }
        if line.starts(with: "213 ".utf8) {
            let text = String(decoding: line.dropFirst(4), as: UTF8.self)
            // A time may have a fraction (RFC 3659 section 2.3).
            if let number = Int64(text.prefix { ("0"..."9").contains($0) }) {
                numbers.append(number)
            }
        }
        return byteCount <= Self.byteLimit
    }

    /// Returns the reply to SIZE.
    ///
    /// - Parameter knowsTime: whether the first number was the time.
    /// - Returns: the size; nil where the server does not support the command.
    func size(knowsTime: Bool) -> Int64? { numbers.dropFirst(knowsTime ? 1 : 0).last }
}
