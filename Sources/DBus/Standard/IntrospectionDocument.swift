// SPDX-License-Identifier: Apache-2.0

/// The XML that describes an object: D-Bus specification, "Introspection Data Format".
///
/// The same interfaces and children give the same text, byte for byte.
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
        switch member.content {
        case .method(let method):
            element("method", member.name, method.inputs, "in", method.outputs)
        case .signal(_, let arguments):
            element("signal", member.name, arguments, nil, [])
        case .property(let property):
            append(property, member.name)
        }
    }

    private mutating func element(
        _ tag: String,
        _ name: MemberName,
        _ inputs: [Argument],
        _ direction: String?,
        _ outputs: [Argument]
    ) {
        guard !inputs.isEmpty || !outputs.isEmpty else {
            line(2, "<\(tag) name=\"\(name)\"/>")
            return
        }
        line(2, "<\(tag) name=\"\(name)\">")
        for argument in inputs { append(argument, direction: direction) }
        for argument in outputs { append(argument, direction: "out") }
        line(2, "</\(tag)>")
    }

    private mutating func append(_ argument: Argument, direction: String?) {
        let direction = direction.map { " direction=\"\($0)\"" } ?? ""
        let name = Self.escaped(argument.name)
        line(3, "<arg name=\"\(name)\" type=\"\(argument.type)\"\(direction)/>")
    }

    private mutating func append(_ property: Property, _ name: MemberName) {
        let access = property.set == nil ? "read" : "readwrite"
        let opening = "property name=\"\(name)\" type=\"\(property.type)\" access=\"\(access)\""
        // The annotation's default value is left out.
        guard property.emits != .changes else {
            line(2, "<\(opening)/>")
            return
        }
        let annotation = "org.freedesktop.DBus.Property.EmitsChangedSignal"
        line(2, "<\(opening)>")
        line(3, "<annotation name=\"\(annotation)\" value=\"\(property.emits.rawValue)\"/>")
        line(2, "</property>")
    }

    private mutating func line(_ depth: Int, _ content: String) {
        text += String(repeating: "  ", count: depth) + content + "\n"
    }

    /// Escapes the name of an argument: all other texts in the document are validated names.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
