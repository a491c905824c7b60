// SPDX-License-Identifier: Apache-2.0

/// The XML that describes an object: D-Bus specification, "Introspection Data Format".
///
/// The same interfaces and children give the same text, byte for byte. The names in it need no
/// escapes: export has checked them.
struct IntrospectionDocument {
    private(set) var text = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>

        """

    init(_ interfaces: [Interface], children: [String]) {
        for interface in interfaces {
            line(1, "<interface name=\"\(interface.name)\">")
            for member in interface.members { append(member) }
            line(1, "</interface>")
        }
        for child in children { line(1, "<node name=\"\(child)\"/>") }
        line(0, "</node>")
    }

    private mutating func append(_ member: Member) {
        let name = "name=\"\(member.name)\""
        switch member.content {
        case .method(let method):
            let inputs = method.inputs.map { Self.text(of: $0, " direction=\"in\"") }
            let outputs = method.outputs.map { Self.text(of: $0, " direction=\"out\"") }
            element("method", name, inputs + outputs)
        case .signal(_, let arguments):
            element("signal", name, arguments.map { Self.text(of: $0) })
        case .property(let property):
            let access = property.set == nil ? "read" : "readwrite"
            let annotation = "annotation name=\"org.freedesktop.DBus.Property.EmitsChangedSignal\""
            let change = "<\(annotation) value=\"\(property.emits.rawValue)\"/>"
            // The annotation's default value is left out.
            element(
                "property",
                "\(name) type=\"\(property.type)\" access=\"\(access)\"",
                property.emits == .changes ? [] : [change]
            )
        }
    }

    /// Adds the element of a member, with the elements in it.
    private mutating func element(_ tag: String, _ attributes: String, _ content: [String]) {
        guard !content.isEmpty else { return line(2, "<\(tag) \(attributes)/>") }
        line(2, "<\(tag) \(attributes)>")
        for element in content { line(3, element) }
        line(2, "</\(tag)>")
    }

    private static func text(of argument: Argument, _ direction: String = "") -> String {
        "<arg name=\"\(argument.name)\" type=\"\(argument.type)\"\(direction)/>"
    }

    private mutating func line(_ depth: Int, _ content: String) {
        text += String(repeating: "  ", count: depth) + content + "\n"
    }
}
