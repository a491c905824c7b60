// SPDX-License-Identifier: Apache-2.0

/// What a change of a property announces: the annotation
/// `org.freedesktop.DBus.Property.EmitsChangedSignal` of the D-Bus specification.
public enum ChangeSignal: String, Hashable, Sendable {
    /// PropertiesChanged with the new value.
    case changes = "true"
    /// PropertiesChanged without the value.
    case invalidates = "invalidates"
    /// Nothing: the value never changes.
    case constant = "const"
    /// Nothing, although the value changes: clients must not cache it.
    case never = "false"
}

/// The row of a property.
struct Property: Sendable {
    let type: Signature
    let emits: ChangeSignal
    /// Writes the value as a variant where it is at hand; nil leaves it to `get`.
    let now: @Sendable (Call) -> WireWriter?
    /// Writes the value as a variant.
    let get: @Sendable (Call) async throws -> WireWriter
    let set: (@Sendable (Call, Value) async throws -> Void)?

    /// The same property, with what its handlers throw put into the words of its interface.
    func wording(_ errors: @escaping Interface.Wording) -> Property {
        Property(
            type: type,
            emits: emits,
            now: now,
            get: Interface.wording(errors, get),
            set: set.map { Interface.wording(errors, $0) }
        )
    }
}

extension Member {
    /// A property; without `set` it can only be read.
    ///
    /// A change is announced by whoever makes it:
    /// ``Connection/emitPropertiesChanged(_:at:changed:invalidated:)``.
    ///
    /// - Parameters:
    ///   - name: The property.
    ///   - emits: What a change announces.
    ///   - now: Gives the value where it is at hand, on the connection's executor: then Get needs no
    ///     task, in which `get` would run.
    ///   - get: Gives the value.
    ///   - set: Takes a new value.
    /// - Returns: The row.
    public static func property<Content: BusType>(
        _ name: MemberName,
        _ emits: ChangeSignal = .changes,
        now: @escaping @Sendable () -> Content? = { nil },
        get: @escaping @Sendable () async throws -> Content,
        set: (@Sendable (Content) async throws -> Void)? = nil
    ) -> Member {
        let getValue: @Sendable (Call) async throws -> Content = { _ in try await get() }
        var setValue: (@Sendable (Call, Content) async throws -> Void)?
        if let set { setValue = { _, content in try await set(content) } }
        return property(name, emits, now: { _ in now() }, get: getValue, set: setValue)
    }

    /// A property whose handlers see the call: its object, and who asks.
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
                try await set(call, try decoded(value, of: name))
            }
        }
        return Member(
            name: name,
            content: .property(
                Property(
                    type: Content.signature,
                    emits: emits,
                    now: { now($0).map { WireWriter(Variant($0)) } },
                    get: { WireWriter(Variant(try await get($0))) },
                    set: setValue
                )
            )
        )
    }

    /// A property whose type is known only when the program runs.
    ///
    /// - Parameters:
    ///   - name: The property.
    ///   - type: The one complete type of what `get` gives; `set` is only called with this type.
    ///   - emits: What a change announces.
    ///   - now: Gives what `get` gives where it is at hand, on the connection's executor; nil has
    ///     `get` run, in a task.
    ///   - get: Gives the value, written as a variant: one ``Value``, or one ``Variant``.
    ///   - set: Takes a new value; without it the property can only be read.
    /// - Returns: The row.
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

    private static func decoded<Content: BusType>(
        _ value: Value,
        of property: MemberName
    ) throws(BusError) -> Content {
        do throws(DecodingFailure) {
            return try Content(busValue: value)
        } catch {
            throw .invalidArguments("The property \(property): \(error).")
        }
    }
}
