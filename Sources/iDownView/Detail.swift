// SPDX-License-Identifier: Apache-2.0

import DBus

/// A value that goes with a reason or with an entry of a history, as text and as JSON.
struct Detail: Encodable, CustomStringConvertible {
    private let value: any CustomStringConvertible & Encodable

    /// Nil for a value of a type that no detail has in this version.
    init?(_ value: Value) {
        switch value {
        case .string(let text): self.value = text
        case .boolean(let flag): self.value = flag
        case .uint32(let number): self.value = number
        case .int64(let number): self.value = number
        case .uint64(let number): self.value = number
        default: return nil
        }
    }

    var description: String { value.description }

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
