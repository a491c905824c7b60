// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An open file that travels with a message: the type `h`.
///
/// It is closed when the last copy of its value is gone. Two are equal where they are the same
/// opening, not where they lead to the same file.
public struct OpenDescriptor: Hashable, Sendable {
    /// The most open files in one message (16): the bus ends the connection of a program that sends
    /// more (`max_message_unix_fds` of dbus-daemon(1)).
    public static let mostInMessage = 16

    private final class Opening: Sendable {
        let number: CInt

        init(_ number: CInt) { self.number = number }

        deinit { if number >= 0 { close(number) } }
    }

    private let opening: Opening

    /// The number in this process, valid as long as this value is held.
    public var number: CInt { opening.number }

    /// Takes the ownership of an open descriptor.
    public init(owning number: CInt) { opening = Opening(number) }

    /// Reads the descriptor that came with a message.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        self = try reader.descriptor()
    }

    /// Whether both are the same opening.
    public static func == (left: OpenDescriptor, right: OpenDescriptor) -> Bool {
        left.opening === right.opening
    }

    /// Hashes the opening.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
