// SPDX-License-Identifier: Apache-2.0

public import DBus

/// A reason why a task makes no progress, as a code with values: `(sa{sv})`.
///
/// Programs can express the code in their user's language. `dbus/org.idown.Manager1.xml` lists the
/// codes and their values with ExplainCodes.
public struct TaskReason: Hashable, Sendable {
    /// The code, such as `queue`; it is never renamed.
    public let code: String
    /// The values by name; later versions may add some.
    public let values: [String: Value]

    /// Creates a reason.
    public init(_ code: String, _ values: [String: Value] = [:]) {
        self.code = code
        self.values = values
    }
}

extension TaskReason: BusType {
    private typealias Members = Structure<String, [String: Value]>

    /// The type `(sa{sv})`.
    public static var signature: Signature { Members.signature }

    /// Reads a reason.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        (code, values) = try Members(from: &reader).members
    }

    /// Appends the reason.
    public func write(to writer: inout WireWriter) { Members(code, values).write(to: &writer) }
}
