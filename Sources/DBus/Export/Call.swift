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
    /// What its connection knows it by.
    var id = 0

    /// Lets the next calls of its sender be served, however long this one still takes.
    ///
    /// For a handler that waits for something which may never come. The call still counts among those
    /// that wait (``CallLimits``).
    public func makeWay() {
        connection.enqueue { [id] connection in
            connection.pendingCalls.makeWay(id)
            connection.callsShrank()
        }
    }
}
