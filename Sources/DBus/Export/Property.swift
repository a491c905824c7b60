// SPDX-License-Identifier: Apache-2.0

/// The signal of a property's changes.
///
/// The annotation `org.freedesktop.DBus.Property.EmitsChangedSignal` of the D-Bus specification.
public enum ChangeSignal: String, Hashable, Sendable {
    /// PropertiesChanged with the new value.
    case changes = "true"
    /// PropertiesChanged without the value.
    case invalidates = "invalidates"
    /// No signal: the value never changes.
    case constant = "const"
    /// No signal, although the value changes: clients must not cache it.
    case never = "false"
}

/// A property in an interface's table: its type, and the code that reads and sets it.
struct Property: Sendable {
    let type: Signature
    let emits: ChangeSignal
    /// Writes the value as a variant if it is at hand; if it returns nil, `get` runs.
    let now: @Sendable (Call) -> WireWriter?
    /// Writes the value as a variant.
    let get: @Sendable (Call) async throws -> WireWriter
    let set: (@Sendable (Call, Value) async throws -> Void)?
}

extension Member {
    /// Makes a property; without `set`, it is read-only.
    ///
    /// The code that changes the value announces the change with
    /// ``Interface/propertiesChanged``.
    ///
    /// - Parameters:
    ///   - name: The property.
    ///   - emits: The signal of a change.
    ///   - now: Returns the value if it is at hand, on the connection's executor, so that Get needs
    ///     no task; if it returns nil, `get` runs in one.
    ///   - get: Returns the value.
    ///   - set: Takes a new value.
    /// - Returns: The member for the table.
    public static func property<Content: BusType>(
        _ name: MemberName,
        _ emits: ChangeSignal = .changes,
        now: @escaping @Sendable (Call) -> Content? = { _ in nil },
        get: @escaping @Sendable (Call) async throws -> Content,
        set: (@Sendable (Call, Content) async throws -> Void)? = nil
    ) -> Member {
        var setValue: (@Sendable (Call, Value) async throws -> Void)?
        if let set {
            setValue = { call, value in
                let content: Content
                do throws(DecodingFailure) {
                    content = try Content(busValue: value)
                } catch {
                    throw BusError.invalidArguments("The property \(name): \(error).")
                }
                try await set(call, content)
            }
        }
        return property(
            name,
            type: Content.signature,
            emits,
            now: { now($0).map { WireWriter(Variant($0)) } },
            get: { WireWriter(Variant(try await get($0))) },
            set: setValue
        )
    }

    /// Makes a property whose type is known only when the program runs.
    ///
    /// - Parameters:
    ///   - name: The property.
    ///   - type: The type of the values that `get` writes, one complete type; `set` is only called
    ///     with values of this type.
    ///   - emits: The signal of a change.
    ///   - now: Writes the value like `get` if it is at hand, on the connection's executor; if it
    ///     returns nil, `get` runs in a task.
    ///   - get: Writes the value as a variant: one ``Value``, or one ``Variant``.
    ///   - set: Takes a new value; without it, the property is read-only.
    /// - Returns: The member for the table.
    public static func property(
        _ name: MemberName,
        type: Signature,
        _ emits: ChangeSignal = .changes,
        now: @escaping @Sendable (Call) -> WireWriter? = { _ in nil },
        get: @escaping @Sendable (Call) async throws -> WireWriter,
        set: (@Sendable (Call, Value) async throws -> Void)? = nil
    ) -> Member {
        Member(
            name: name,
            content: .property(Property(type: type, emits: emits, now: now, get: get, set: set))
        )
    }
}
