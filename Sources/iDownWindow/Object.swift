// SPDX-License-Identifier: Apache-2.0

import CGtk

/// A GObject, with access to its properties and signals.
///
/// A widget lives as long as its parent; call `keep()` on any other object that must outlive GTK's
/// reference.
struct Object: Hashable {
    let raw: UnsafeMutableRawPointer

    init(_ raw: UnsafeMutableRawPointer) { self.raw = raw }

    /// Wraps the result of a function of GTK that never returns null.
    init<Instance>(_ pointer: UnsafeMutablePointer<Instance>?) {
        guard let pointer else { preconditionFailure("GTK made no object") }
        raw = UnsafeMutableRawPointer(pointer)
    }

    /// Wraps an instance of a type whose fields are private to GTK.
    init(_ pointer: OpaquePointer?) {
        guard let pointer else { preconditionFailure("GTK made no object") }
        raw = UnsafeMutableRawPointer(pointer)
    }

    /// Makes an object with its properties: g_object_new_with_properties.
    init(_ type: GType, _ properties: KeyValuePairs<String, Property> = [:]) {
        var values = properties.map { $0.value.value }
        var names = properties.map { UnsafePointer(strdup($0.key)) }
        raw = UnsafeMutableRawPointer(
            g_object_new_with_properties(type, guint(values.count), &names, &values)
        )
        for name in names { free(UnsafeMutablePointer(mutating: name)) }
        for place in values.indices { g_value_unset(&values[place]) }
    }

    /// The instance for functions that take a type whose fields are private to GTK.
    var opaque: OpaquePointer { OpaquePointer(raw) }

    /// The instance for functions that take a type with public fields.
    func to<Instance>(_ type: Instance.Type = Instance.self) -> UnsafeMutablePointer<Instance> {
        raw.assumingMemoryBound(to: Instance.self)
    }

    /// The instance as a widget.
    var widget: UnsafeMutablePointer<GtkWidget> { to() }

    /// Keeps the object after GTK has dropped it: g_object_ref.
    @discardableResult
    func keep() -> Object {
        g_object_ref_sink(raw)
        return self
    }

    /// Gives up the reference that `keep()` took, or that came with an object of no widget's:
    /// g_object_unref.
    func drop() { g_object_unref(raw) }
}

/// The value of a property or of a signal's argument.
enum Property: ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral
{
    case text(String?)
    case flag(Bool)
    /// An integer; ``choice(_:)`` makes one from a value of a C enumeration.
    case number(Int)
    case real(Double)
    case object(Object?)

    init(stringLiteral text: String) { self = .text(text) }
    init(booleanLiteral flag: Bool) { self = .flag(flag) }
    init(integerLiteral number: Int) { self = .number(number) }
    init(floatLiteral real: Double) { self = .real(real) }

    /// A value of a C enumeration.
    static func choice(_ choice: some RawRepresentable<UInt32>) -> Property {
        .number(Int(choice.rawValue))
    }

    /// The property as a `GValue`, which the caller must unset.
    fileprivate var value: GValue {
        var value = GValue()
        switch self {
        case .text(let text):
            g_value_init(&value, CGTK_TYPE_STRING)
            g_value_set_string(&value, text)
        case .flag(let flag):
            g_value_init(&value, CGTK_TYPE_BOOLEAN)
            g_value_set_boolean(&value, flag ? 1 : 0)
        case .number(let number):
            g_value_init(&value, CGTK_TYPE_INT64)
            g_value_set_int64(&value, gint64(number))
        case .real(let real):
            g_value_init(&value, CGTK_TYPE_DOUBLE)
            g_value_set_double(&value, real)
        case .object(let object):
            g_value_init(&value, object.map { cgtk_type_of($0.raw) } ?? CGTK_TYPE_OBJECT)
            g_value_set_object(&value, object?.raw)
        }
        return value
    }

    /// Writes the property into a value whose type GTK has set, such as a signal's result.
    fileprivate func fill(_ target: UnsafeMutablePointer<GValue>) {
        var value = value
        g_value_transform(&value, target)
        g_value_unset(&value)
    }
}

// Properties.
extension Object {
    /// Sets a property: g_object_set_property.
    func set(_ name: String, _ property: Property) {
        var value = property.value
        g_object_set_property(to(), name, &value)
        g_value_unset(&value)
    }

    /// Returns the text of a property; empty if it is NULL.
    func text(_ name: String) -> String {
        read(name, CGTK_TYPE_STRING) { value in
            guard let text = g_value_get_string(value) else { return "" }
            return String(cString: text)
        }
    }

    func flag(_ name: String) -> Bool {
        read(name, CGTK_TYPE_BOOLEAN) { g_value_get_boolean($0) != 0 }
    }

    func number(_ name: String) -> Int {
        read(name, CGTK_TYPE_INT64) { Int(g_value_get_int64($0)) }
    }

    func real(_ name: String) -> Double {
        read(name, CGTK_TYPE_DOUBLE) { g_value_get_double($0) }
    }

    private func read<Content>(
        _ name: String,
        _ type: GType,
        _ body: (UnsafePointer<GValue>) -> Content
    ) -> Content {
        var value = GValue()
        g_value_init(&value, type)
        g_object_get_property(to(), name, &value)
        defer { g_value_unset(&value) }
        return body(&value)
    }
}

/// The arguments of a signal, counted from 1; the object itself is 0.
struct Arguments {
    fileprivate let values: UnsafePointer<GValue>

    func number(_ place: Int) -> Int {
        var value = GValue()
        g_value_init(&value, CGTK_TYPE_INT64)
        g_value_transform(values + place, &value)
        return Int(g_value_get_int64(&value))
    }
    func real(_ place: Int) -> Double { g_value_get_double(values + place) }
    func object(_ place: Int) -> Object { Object(g_value_get_object(values + place)) }
    /// Returns the value inside a boxed argument, such as dropped data; nil if there is none.
    func boxed<Content>(
        _ place: Int,
        as type: Content.Type = Content.self
    ) -> UnsafeMutablePointer<Content>? {
        g_value_get_boxed(values + place)?.assumingMemoryBound(to: Content.self)
    }
    /// Returns the variant of an action's signal; nil if it has none.
    func variant(_ place: Int) -> OpaquePointer? { g_value_get_variant(values + place) }
}

/// A Swift closure that C code keeps for later.
final class Handler<Input, Output> {
    let body: (Input) -> Output

    init(_ body: @escaping (Input) -> Output) { self.body = body }
}

// Signals.
extension Object {
    /// Calls a function for each signal: g_signal_connect_closure.
    @discardableResult
    func on(_ signal: String, _ body: @escaping (Arguments) -> Void) -> Object {
        answer(signal) {
            body($0)
            return nil
        }
    }

    /// Calls a function for each signal, and gives the signal its result.
    @discardableResult
    func answer(_ signal: String, _ body: @escaping (Arguments) -> Property?) -> Object {
        let handler = Unmanaged.passRetained(Handler(body)).toOpaque()
        let closure = g_closure_new_simple(guint(MemoryLayout<GClosure>.size), handler)
        g_closure_add_finalize_notifier(closure, handler) { handler, _ in
            guard let handler else { return }
            Unmanaged<Handler<Arguments, Property?>>.fromOpaque(handler).release()
        }
        g_closure_set_marshal(closure) { closure, result, _, values, _, _ in
            guard let closure, let values, let data = closure.pointee.data else { return }
            let handler = Unmanaged<Handler<Arguments, Property?>>.fromOpaque(data)
                .takeUnretainedValue()
            let answer = handler.body(Arguments(values: values))
            if let answer, let result { answer.fill(result) }
        }
        g_signal_connect_closure(raw, signal, closure, 0)
        return self
    }

    /// Calls a function when a property has changed.
    @discardableResult
    func onChange(of property: String, _ body: @escaping () -> Void) -> Object {
        on("notify::\(property)") { _ in body() }
    }
}
