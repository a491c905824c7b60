// SPDX-License-Identifier: Apache-2.0

/// A received method call, as its handler sees it.
public struct Call: Sendable {
    /// The connection that it came over.
    public let connection: Connection
    /// The caller's unique name; nil only without a message bus.
    public let sender: BusName?
    /// The path of the called object.
    public let path: ObjectPath
    /// The interface that the method belongs to.
    public let interface: InterfaceName
    /// The name of the method.
    public let member: MemberName
    /// Whether the caller waits for a reply.
    public let wantsReply: Bool
    /// The connection's id for this call.
    var id = 0

    /// Lets the sender's next calls start, however long this one still takes.
    ///
    /// For a handler that waits for an event that may never come. The call still counts among the
    /// sender's waiting calls (``CallLimits``).
    public func makeWay() {
        connection.enqueue { [id] connection in
            connection.pendingCalls.makeWay(id)
            connection.callsShrank()
        }
    }

    /// Cancels the handler when the caller leaves the bus, because nobody gets the answer.
    ///
    /// For a handler that may wait for long.
    public func endWithCaller() {
        guard let sender else { return }
        connection.enqueue { [id] in $0.watchDeparture(of: sender, for: id) }
    }
}
