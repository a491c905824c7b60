// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownSettings

// A setting as a property on the bus, where an empty text means that the setting is unset.
extension Setting {
    /// The word on the bus for an empty proxy URL, which means no proxy.
    private static let direct = "none"

    /// The name of the property.
    package var memberName: MemberName { MemberName(checked: rawValue) }

    /// The type of the property.
    package var signature: Signature {
        switch kind {
        case .number, .days: "u"
        case .seconds, .rate, .size: "t"
        case .flag: "b"
        case .folder, .file, .proxy, .hosts, .choice: "s"
        case .command, .sites, .types: "as"
        }
    }

    /// Encodes a value for the property.
    package func value(_ content: Content) -> Value {
        switch content {
        case .number(let number):
            signature == "u" ? .uint32(UInt32(clamping: number)) : .uint64(number)
        case .flag(let flag): .boolean(flag)
        case .text("") where kind == .proxy: .string(Self.direct)
        case .text(let text): .string(text ?? "")
        case .words(let words): words.busValue
        }
    }

    /// Decodes a value of the property; nil for another type.
    package func content(_ value: Value) -> Content? {
        switch value {
        case .uint32(let number): .number(UInt64(number))
        case .uint64(let number): .number(number)
        case .boolean(let flag): .flag(flag)
        case .string(let text) where kind == .proxy && text.lowercased() == Self.direct: .text("")
        case .string(let text): .text(text.isEmpty ? nil : text)
        case .array: (try? [String](busValue: value)).map { .words($0) }
        default: nil
        }
    }
}

extension Setting.Place {
    /// The interface on the bus.
    var interface: InterfaceName {
        switch self {
        case .manager: Contract.managerInterface
        case .settings: Contract.settingsInterface
        }
    }
}
