// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The user's own format for the line of a task: `{Id}\t{State}\t{FileName}`.
///
/// A field is the name of a D-Bus property, which gives its value as it is on the bus, or one of
/// the fields for people: `{Name}`, `{Size}`, `{Bytes}`, `{Percent}`, `{Rate}`, `{Left}` and
/// `{Reason}`. `\t`, `\n`, `\0` and `\\` are a tab, a line feed, a NUL and a backslash; `{{` and
/// `}}` are braces.
package struct TaskTemplate: Hashable, Sendable {
    private enum Part: Hashable {
        case text(String)
        case property(TaskProperty)
        case summary(SummaryField)
    }

    /// The fields for people.
    private enum SummaryField: String, CaseIterable {
        case name = "Name"
        case size = "Size"
        case bytes = "Bytes"
        case percent = "Percent"
        case rate = "Rate"
        case left = "Left"
        case reason = "Reason"
    }

    /// A mistake in a template: what is wrong, and what to write.
    package struct Mistake: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    private let parts: [Part]

    /// Reads a template.
    package init(_ text: String) throws(Mistake) {
        var parts: [Part] = []
        var plain = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "\\":
                plain.append(try Self.escaped(rest.popFirst()))
            case "{" where rest.first == "{", "}" where rest.first == "}":
                plain.append(character)
                rest.removeFirst()
            case "{":
                guard let end = rest.firstIndex(of: "}") else {
                    throw Mistake(
                        description: "a { in the format has no closing }; for a brace write {{"
                    )
                }
                if !plain.isEmpty { parts.append(.text(plain)) }
                plain = ""
                parts.append(try Self.field(String(rest[..<end])))
                rest = rest[rest.index(after: end)...]
            case "}":
                throw Mistake(
                    description: "a } in the format has no opening {; for a brace write }}"
                )
            default:
                plain.append(character)
            }
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
    }

    /// Whether a NUL ends the text of each task, so that no line feed may follow it.
    package var endsInNUL: Bool {
        if case .text(let text) = parts.last { text.utf8.last == 0 } else { false }
    }

    /// Returns the line of a task without a line feed; values are free of control characters, unless
    /// a program reads them up to the next NUL.
    package func text(of task: TaskProperties, for reader: LineReader = .program) -> String {
        let isLine = !endsInNUL || reader == .terminal
        func value(_ text: String) -> String { isLine ? reader.line(text) : text }
        // Programs read the line, so numbers have a point in every locale.
        return ByteCount.$decimalSign.withValue(".") {
            parts.map { part in
                switch part {
                case .text(let text): text
                case .property(let property): value(TaskJSON.text(of: property, in: task))
                case .summary(let field): value(Self.text(of: field, in: task))
                }
            }.joined()
        }
    }

    /// The names of all fields.
    package static let fields =
        TaskProperty.allCases.map(\.rawValue) + SummaryField.allCases.map(\.rawValue)

    private static func field(_ name: String) throws(Mistake) -> Part {
        if let property = TaskProperty(rawValue: name) { return .property(property) }
        if let field = SummaryField(rawValue: name) { return .summary(field) }
        throw Mistake(
            description: "there is no field {\(CellText(name).cut(to: 40))}; the fields are "
                + fields.joined(separator: ", ")
        )
    }

    private static func escaped(_ character: Character?) throws(Mistake) -> Character {
        switch character {
        case "t": "\t"
        case "n": "\n"
        case "0": "\0"
        case "\\": "\\"
        default:
            throw Mistake(description: "a backslash in the format must be \\t, \\n, \\0 or \\\\")
        }
    }

    private static func text(of field: SummaryField, in task: TaskProperties) -> String {
        let summary = TaskSummary(task)
        return switch field {
        case .name: task.fileName.isEmpty ? task.url : task.fileName
        case .size: summary.size
        case .bytes: summary.bytes.isEmpty ? "-" : summary.bytes
        case .percent: summary.percent
        case .rate: summary.speed
        case .left: summary.timeLeft(bytesPerSecond: task.speed)
        case .reason: summary.reason.description
        }
    }
}
