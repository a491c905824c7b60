// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An open file that travels with a message: the type `h`.
///
/// The file is closed when the last copy of this value is gone. Two values are equal if they are
/// copies of one value; two descriptors of the same file are not equal.
public struct OpenDescriptor: Hashable, Sendable {
    /// The most open files in one message: 16.
    ///
    /// The bus closes the connection of a program that sends more (`max_message_unix_fds` of
    /// dbus-daemon(1)).
    public static let mostInMessage = 16

    private final class Opening: Sendable {
        let number: CInt

        init(_ number: CInt) { self.number = number }

        deinit { if number >= 0 { close(number) } }
    }

    private let opening: Opening

    /// The descriptor's number in this process, valid while this value is kept.
    public var number: CInt { opening.number }

    /// Takes ownership of an open descriptor.
    public init(owning number: CInt) { opening = Opening(number) }

    /// Reads the descriptor that came with a message.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        self = try reader.descriptor()
    }

    /// Whether both are copies of one value.
    public static func == (left: OpenDescriptor, right: OpenDescriptor) -> Bool {
        left.opening === right.opening
    }

    /// Hashes the descriptor's number.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
