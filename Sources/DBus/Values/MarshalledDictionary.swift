// SPDX-License-Identifier: Apache-2.0

/// An `a{sv}` in the form in which it goes over the wire, put together entry by entry.
///
/// For what is told by the thousand: a tree of values costs many times what its bytes do. It goes
/// into replies and signals; what arrives is always a ``Value/dictionary(key:value:_:)``.
public struct MarshalledDictionary: Hashable, Sendable {
    static let signature: Signature = "a{sv}"

    /// The entries, of which the first one is to stand at a multiple of 8 bytes.
    private(set) var entries = WireWriter()
    /// Why it cannot be sent; nil where it can.
    private(set) var fault: BusError?

    /// A dictionary without entries.
    public init() {}

    /// A dictionary whose entries will take about so many bytes.
    public init(reserving count: Int) { entries.reserve(count) }

    /// How many bytes the entries take.
    public var byteCount: Int { entries.bytes.count }

    /// Adds an entry.
    ///
    /// A value that cannot be sent, such as a string with U+0000, is told when the message is made.
    public mutating func append(_ key: String, _ value: Value) {
        guard fault == nil else { return }
        do throws(BusError) {
            entries.align(to: 8)
            try entries.append(text: key)
            try entries.append(variant: value)
        } catch {
            fault = error
        }
    }
}
