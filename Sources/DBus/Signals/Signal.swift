// SPDX-License-Identifier: Apache-2.0

/// A signal that arrived.
public struct Signal: Hashable, Sendable {
    /// The sender's unique name, or the bus itself; nil only without a message bus.
    public let sender: BusName?
    /// The object that sent it.
    public let path: ObjectPath
    /// Its interface.
    public let interface: InterfaceName
    /// Its name.
    public let member: MemberName
    /// What it carries.
    public let arguments: [Value]
}
