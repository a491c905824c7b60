// SPDX-License-Identifier: Apache-2.0

/// What waits for a turn: the highest priority first, and equal ones in the order in which they came.
struct PriorityLine<Element: Sendable>: Sendable {
    /// Those of one priority; what was taken is cleared away when the rest is as short.
    private struct Line: Sendable {
        let priority: UInt8
        var elements: [Element] = []
        var taken = 0
    }

    /// One for each priority that there ever was, the highest first: the runtime knows six.
    private var lines: [Line] = []

    /// Puts an element behind all of its priority.
    mutating func append(_ element: Element, priority: UInt8) {
        let place = lines.firstIndex { $0.priority <= priority } ?? lines.endIndex
        if place == lines.endIndex || lines[place].priority != priority {
            lines.insert(Line(priority: priority), at: place)
        }
        lines[place].elements.append(element)
    }

    /// Takes the first; nil where nothing waits.
    mutating func popFirst() -> Element? {
        for place in lines.indices where lines[place].taken < lines[place].elements.count {
            let element = lines[place].elements[lines[place].taken]
            lines[place].taken += 1
            if lines[place].taken * 2 >= lines[place].elements.count {
                lines[place].elements.removeFirst(lines[place].taken)
                lines[place].taken = 0
            }
            return element
        }
        return nil
    }
}
