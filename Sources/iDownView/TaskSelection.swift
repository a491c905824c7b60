// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// Which tasks somebody means: ids, ranges of ids, states, or all of them.
package struct TaskSelection: Hashable, Sendable {
    /// One word of a selection.
    package enum Word: Hashable, Sendable {
        /// One task, which has to be there.
        case id(String)
        /// All tasks whose ids lie within; both ends belong to it.
        case range(ClosedRange<Int64>)
        /// All tasks in a state.
        case state(TaskProperties.State)
        /// All tasks.
        case all
    }

    /// A word that selects nothing that there could be.
    package struct Mistake: Error, Hashable, CustomStringConvertible {
        /// What was wrong and what would be right.
        package let description: String
    }

    package let words: [Word]

    /// Reads words such as `7`, `3-7`, `failed`, `all`, or a task's object path.
    package init(_ texts: [String]) throws(Mistake) {
        var words: [Word] = []
        for text in texts { words.append(try Self.word(text)) }
        self.words = words
    }

    /// The ids, where nothing else is named: then nobody needs to ask for the list.
    package var plainIDs: [String]? {
        var ids: [String] = []
        for word in words {
            guard case .id(let id) = word else { return nil }
            ids.append(id)
        }
        return ids
    }

    /// The states, where nothing else is named: then only such tasks need be asked for.
    package var plainStates: [TaskProperties.State]? {
        var states: [TaskProperties.State] = []
        for word in words {
            guard case .state(let state) = word else { return nil }
            states.append(state)
        }
        return states
    }

    /// The tasks that are meant, each once, in the order of the list.
    ///
    /// - Throws: ``Missing`` where an id, or every id of a range, is not there.
    package func tasks(of list: [TaskProperties]) throws(Missing) -> [TaskProperties] {
        var takesAll = false
        var ids: Set<String> = []
        var states: Set<TaskProperties.State> = []
        var ranges: [ClosedRange<Int64>] = []
        for word in words {
            switch word {
            case .id(let id): ids.insert(id)
            case .range(let range): ranges.append(range)
            case .state(let state): states.insert(state)
            case .all: takesAll = true
            }
        }
        var missingIDs = ids
        var missingRanges = Set(ranges)
        let found = list.filter { task in
            missingIDs.remove(task.id)
            let number = Int64(task.id) ?? 0
            let within = ranges.filter { $0.contains(number) }
            missingRanges.subtract(within)
            return takesAll || !within.isEmpty || ids.contains(task.id)
                || states.contains(task.state)
        }
        if let id = missingIDs.min(by: Self.isBefore) {
            throw Missing(what: "there is no task \(id)")
        }
        if let range = missingRanges.min(by: { $0.lowerBound < $1.lowerBound }) {
            throw Missing(
                what: "there is no task from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return found
    }

    /// An id, or a range without any, that is not in the list.
    package struct Missing: Error, Hashable, CustomStringConvertible {
        let what: String

        package var description: String { what }
    }

    private static func isBefore(_ one: String, _ other: String) -> Bool {
        (one.utf8.count, one) < (other.utf8.count, other)
    }
}

extension TaskSelection {
    private static func word(_ text: String) throws(Mistake) -> Word {
        if text == "all" { return .all }
        let state = TaskProperties.State(rawValue: text)
        if TaskProperties.State.known.contains(state) { return .state(state) }
        let id = TaskPath.id(meantBy: text)
        if TaskPath.isID(id) { return .id(id) }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ TaskPath.isID(String($0)) }),
            let first = Int64(ends[0]), let last = Int64(ends[1])
        else {
            let states = TaskProperties.State.known.map(\.rawValue).joined(separator: ", ")
            // It may be a URL that was meant for another command.
            let shown = CellText(ShownURL(text).description).cut(to: 60)
            throw Mistake(
                description: "\(shown) selects no download; give IDs such as"
                    + " 7, ranges such as 3-7, all, or a state: \(states)"
            )
        }
        guard first <= last else {
            throw Mistake(description: "\(text) counts backwards; did you mean \(last)-\(first)?")
        }
        return .range(first...last)
    }
}
