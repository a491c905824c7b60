// SPDX-License-Identifier: Apache-2.0

/// What a server of files, FTP or SFTP, says of a file before it sends it.
public struct RemoteFile: Hashable, Sendable {
    /// How many bytes it has in all; nil where the server does not tell.
    public var size: Int64?
    /// When it was last changed, in seconds since 1970 UTC; nil where the server does not tell.
    public var modified: Int64?
    /// Where the part that was asked for begins; nil where the whole file was.
    public var offset: Int64?
    /// How many bytes come now; nil where the server does not tell.
    public var length: Int64?

    /// Takes all as it is.
    public init(size: Int64?, modified: Int64?, offset: Int64?, length: Int64?) {
        self.size = size
        self.modified = modified
        self.offset = offset
        self.length = length
    }
}

/// What an FTP server says on its control connection, as far as it is about the file.
struct ControlReplies {
    /// The most bytes of replies in a transfer; there is no end to a greeting otherwise.
    static let byteLimit = 300 * 1024

    private var byteCount = 0
    /// The numbers in replies 213, in order: MDTM's time, then SIZE's count (RFC 3659).
    private var numbers: [Int64] = []

    /// Reads a line with its end; false beyond the limit.
    mutating func read(_ line: UnsafeRawBufferPointer) -> Bool {
        byteCount += line.count
        if line.starts(with: "213 ".utf8) {
            let text = String(decoding: line.dropFirst(4), as: UTF8.self)
            // A time may have a fraction (RFC 3659 section 2.3).
            if let number = Int64(text.prefix { ("0"..."9").contains($0) }) {
                numbers.append(number)
            }
        }
        return byteCount <= Self.byteLimit
    }

    /// What SIZE was answered.
    ///
    /// - Parameter knowsTime: whether the first of the numbers was the time.
    /// - Returns: nil where the server does not know the command.
    func size(knowsTime: Bool) -> Int64? { numbers.dropFirst(knowsTime ? 1 : 0).last }
}
