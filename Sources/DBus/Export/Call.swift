// SPDX-License-Identifier: Apache-2.0

/// A method call that arrived, as its handler sees it.
public struct Call: Sendable {
    /// The connection that it came over.
    public let connection: Connection
    /// The caller's unique name; nil only without a message bus.
    public let sender: BusName?
    /// The object called.
    public let path: ObjectPath
    /// The interface that the method belongs to.
    public let interface: InterfaceName
    /// The method.
    public let member: MemberName
    /// Whether the caller waits for a reply.
    public let wantsReply: Bool
}
