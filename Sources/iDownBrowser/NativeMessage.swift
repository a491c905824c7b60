// SPDX-License-Identifier: Apache-2.0

/// The form in which browsers and native hosts exchange messages: four bytes with the length, in
/// the machine's order, and a JSON object in UTF-8.
package enum NativeMessage {
    /// The most bytes of a message, the four of its length not counted.
    ///
    /// Browsers take up to 1 MiB and send up to 4 GiB; these messages need much less.
    package static let limit = 64 << 10

    /// How many bytes tell the length.
    package static let headerSize = 4

    /// Returns the length that the first four bytes of a message tell.
    package static func length(_ header: some Sequence<UInt8>) -> Int {
        var length: UInt32 = 0
        withUnsafeMutableBytes(of: &length) { bytes in
            for (place, byte) in header.prefix(headerSize).enumerated() { bytes[place] = byte }
        }
        return Int(length)
    }

    /// Returns a message with its length before it.
    package static func framed(_ message: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(message.count)) { Array($0) } + message
    }
}
