// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An open file that travels with a message: the type `h`.
///
/// It is closed when the last copy of its value is gone. Two are equal where they are the same
/// opening, not where they lead to the same file.
public final class OpenDescriptor: Sendable {
    /// The number in this process, valid as long as this object is held.
    public let number: CInt

    /// Takes the ownership of an open descriptor.
    public init(owning number: CInt) { self.number = number }

    deinit { close(number) }
}

extension OpenDescriptor: Hashable {
    /// Whether both are the same opening.
    public static func == (left: OpenDescriptor, right: OpenDescriptor) -> Bool { left === right }

    /// Hashes the opening.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
