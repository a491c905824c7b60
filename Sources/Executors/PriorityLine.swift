// SPDX-License-Identifier: Apache-2.0

/// A queue that gives out the highest priority first, and equal priorities in order of arrival.
struct PriorityLine<Element: Sendable>: Sendable {
    /// The elements of one priority.
    ///
    /// The `taken` elements at the front are removed once they are at least half of the array.
    private struct Line: Sendable {
        let priority: UInt8
        var elements: [Element] = []
        var taken = 0
    }

    /// One line for each priority seen so far, the highest first; the runtime knows six priorities.
    private var lines: [Line] = []

    /// Appends an element behind all others of its priority.
    mutating func append(_ element: Element, priority: UInt8) {
        let place = lines.firstIndex { $0.priority <= priority } ?? lines.endIndex
        if place == lines.endIndex || lines[place].priority != priority {
            lines.insert(Line(priority: priority), at: place)
        }
        lines[place].elements.append(element)
    }

    /// Removes and returns the first element; nil if the queue is empty.
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
