// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The tasks that a command line selects by ids, ranges of ids, states, or `all`.
package struct TaskSelection: Hashable, Sendable {
    /// One word of a selection.
    package enum Word: Hashable, Sendable {
        /// One task, which must exist.
        case id(String)
        /// All tasks with an id in the range, of which at least one must exist.
        case range(ClosedRange<Int64>)
        /// All tasks in a state.
        case state(TaskProperties.State)
        /// All tasks.
        case all
    }

    /// A word that is not an id, a range, a state or `all`.
    package struct Mistake: Error, Hashable, CustomStringConvertible {
        /// What is wrong, and what to type.
        package let description: String
    }

    package let words: [Word]

    /// Reads words such as `7`, `3-7`, `failed`, `all`, or a task's object path.
    package init(_ texts: [String]) throws(Mistake) {
        var words: [Word] = []
        for text in texts { words.append(try Self.word(text)) }
        self.words = words
    }

    /// The ids, each once, if all words are ids, so that the list need not be read; otherwise nil.
    package var plainIDs: [String]? {
        var ids: [String] = []
        var seen: Set<String> = []
        for word in words {
            guard case .id(let id) = word else { return nil }
            if seen.insert(id).inserted { ids.append(id) }
        }
        return ids
    }

    /// The states if all words are states, so that only their tasks need be read; otherwise nil.
    package var plainStates: [TaskProperties.State]? {
        var states: [TaskProperties.State] = []
        for word in words {
            guard case .state(let state) = word else { return nil }
            states.append(state)
        }
        return states
    }

    /// Returns the selected tasks, each once, in the order of the list.
    ///
    /// - Throws: ``Missing`` if the list lacks a selected id, or every id of a range.
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
        if let id = missingIDs.min(by: Self.isBefore) { throw Missing(id: id) }
        if let range = missingRanges.min(by: { $0.lowerBound < $1.lowerBound }) {
            throw Missing(range)
        }
        return found
    }

    /// An id that the list lacks, or a range of which it has no id.
    package struct Missing: Error, Hashable, CustomStringConvertible {
        /// What is missing, and the command that helps.
        package let description: String

        package init(id: String) {
            description = "there is no download \(id); to see the IDs: idown list"
        }

        fileprivate init(_ range: ClosedRange<Int64>) {
            description =
                "there is no download with an ID from \(range.lowerBound) to \(range.upperBound);"
                + " to see the IDs: idown list"
        }
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
            // The text may be a URL with a secret, meant for another command.
            let shown =
                text.isEmpty
                ? "an empty text" : CellText(ShownURL(text).description).cut(to: 60).description
            throw Mistake(
                description: "\(shown) selects no download;"
                    + " give IDs such as 7, ranges such as 3-7, all, or a state: \(states)"
            )
        }
        guard first <= last else {
            throw Mistake(description: "\(text) counts backwards; did you mean \(last)-\(first)?")
        }
        return .range(first...last)
    }
}
