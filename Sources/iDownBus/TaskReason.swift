// SPDX-License-Identifier: Apache-2.0

public import DBus

/// One reason why a task makes no progress, as a code with values: `(sa{sv})`.
///
/// A program says it in the language of its user. The codes, and the values of each, are listed with
/// ExplainCodes in `dbus/org.idown.Manager1.xml`.
public struct TaskReason: Hashable, Sendable {
    /// A value that goes with a code.
    public enum Detail: Hashable, Sendable {
        case text(String)
        case count(UInt32)
        /// Bytes, or a time in µs since the epoch.
        case number(UInt64)
    }

    /// The code, such as `queue`; it is never renamed.
    public let code: String
    /// The values by their names; later versions may add some.
    public let values: [String: Detail]

    /// Creates a reason.
    public init(_ code: String, _ values: [String: Detail] = [:]) {
        self.code = code
        self.values = values
    }
}

extension TaskReason: BusType {
    private typealias Members = Structure<String, [String: Value]>

    /// The type `(sa{sv})`.
    public static var signature: Signature { Members.signature }

    /// Reads a reason; values of other types are left out.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        let values: [String: Value]
        (code, values) = try Members(from: &reader).members
        self.values = values.compactMapValues { value in
            switch value {
            case .string(let text): .text(text)
            case .uint32(let count): .count(count)
            case .uint64(let number): .number(number)
            default: nil
            }
        }
    }

    /// Appends the reason.
    public func write(to writer: inout WireWriter) {
        let values = values.mapValues { detail -> Value in
            switch detail {
            case .text(let text): .string(text)
            case .count(let count): .uint32(count)
            case .number(let number): .uint64(number)
            }
        }
        Members(code, values).write(to: &writer)
    }
}
