// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// A line of a person's own for each task: `{Id}\t{State}\t{FileName}`.
///
/// Fields are the names of the properties on the bus, as they stand there, and a few for people:
/// `{Name}`, `{Size}`, `{Bytes}`, `{Percent}`, `{Rate}`, `{Left}` and `{Reason}`. `\t`, `\n` and
/// `\\` are a tab, a line feed and a backslash; `{{` and `}}` are braces.
package struct TaskTemplate: Hashable, Sendable {
    private enum Part: Hashable {
        case text(String)
        case property(TaskProperty)
        case shown(Shown)
    }

    private enum Shown: String, CaseIterable {
        case name = "Name"
        case size = "Size"
        case bytes = "Bytes"
        case percent = "Percent"
        case rate = "Rate"
        case left = "Left"
        case reason = "Reason"
    }

    /// What is wrong with a template.
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
                    throw Mistake(description: "a { has no }; a brace itself is {{")
                }
                if !plain.isEmpty { parts.append(.text(plain)) }
                plain = ""
                parts.append(try Self.field(String(rest[..<end])))
                rest = rest[rest.index(after: end)...]
            case "}":
                throw Mistake(description: "a } has no {; a brace itself is }}")
            default:
                plain.append(character)
            }
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
    }

    /// The text of one task, without an end of line; values hold no control characters.
    package func text(of task: TaskProperties, for reader: LineReader = .program) -> String {
        // For programs too: numbers are written as everywhere in the world.
        ByteCount.$decimalSign.withValue(".") {
            parts.map { part in
                switch part {
                case .text(let text): text
                case .property(let property):
                    reader.line(TaskJSON.text(of: property, in: task))
                case .shown(let shown): reader.line(Self.text(of: shown, in: task))
                }
            }.joined()
        }
    }

    /// The names that may stand in braces.
    package static let fields =
        TaskProperty.allCases.map(\.rawValue) + Shown.allCases.map(\.rawValue)

    private static func field(_ name: String) throws(Mistake) -> Part {
        if let property = TaskProperty(rawValue: name) { return .property(property) }
        if let shown = Shown(rawValue: name) { return .shown(shown) }
        throw Mistake(
            description: "there is no field {\(CellText(name).cut(to: 40))}; there are "
                + fields.joined(separator: ", ")
        )
    }

    private static func escaped(_ character: Character?) throws(Mistake) -> Character {
        switch character {
        case "t": "\t"
        case "n": "\n"
        case "0": "\0"
        case "\\": "\\"
        default: throw Mistake(description: "there are \\t, \\n, \\0 and \\\\ after a backslash")
        }
    }

    private static func text(of shown: Shown, in task: TaskProperties) -> String {
        let summary = TaskSummary(task)
        return switch shown {
        case .name: task.fileName.isEmpty ? task.url : task.fileName
        case .size: summary.size
        case .bytes: summary.bytes
        case .percent: summary.percent
        case .rate: summary.speed
        case .left: summary.timeLeft(bytesPerSecond: task.speed)
        case .reason: summary.reason.description
        }
    }
}
