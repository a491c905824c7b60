// SPDX-License-Identifier: Apache-2.0

import iDownBus

/// The live list as a whole screen: the list, what was typed, and the operation under way.
///
/// Keys go in and requests for the service come out; ``frame(width:height:time:)`` returns what to
/// draw. It knows no terminal.
package struct ListScreen: Sendable {
    /// A key, a paste or an event of the mouse.
    package enum Key: Hashable, Sendable {
        case up, down, pageUp, pageDown, home, end
        case enter, escape, backspace, delete
        /// Ctrl-W and Ctrl-U while a text is typed: the last word and the whole text are deleted.
        case deleteWord, deleteAll
        case character(Character)
        /// A pasted text.
        case paste(String)
        /// A click, or a double click, on a line of the screen counted from 0.
        case click(Int)
        case doubleClick(Int)
        /// The wheel, in lines; negative is up.
        case wheel(Int)
    }

    /// The latest operation that was asked of the service from this screen.
    package enum Operation: Hashable, Sendable {
        case none
        case running(String)
        case succeeded(String)
        case failed(String)
    }

    enum Mode: Hashable {
        case list
        case search
        case add(String)
        /// `of` is the state for which the entries were made.
        case menu(id: String, place: Int, of: TaskProperties.State)
        case consent(ListVerb, [String])
        case details(id: String)
        case help
    }

    package var list = TaskList()
    package private(set) var operation = Operation.none
    var mode = Mode.list
    /// The first row on the screen.
    var top = 0
    /// How many rows fit; known from the last drawing.
    var pageRows = 10
    /// The lines above and below the rows.
    var margins = Margins()
    /// The box in front.
    var box = ScreenBox()

    package init() {}

    /// The ID of the task whose details are shown; nil while none are.
    package var detailed: String? {
        if case .details(let id) = mode { id } else { nil }
    }

    /// Shows that a request is under way.
    package mutating func begin(_ request: ListRequest) { operation = .running(request.title) }

    /// Shows that the request was carried out; an empty text shows nothing.
    package mutating func succeed(_ text: String) {
        operation = text.isEmpty ? .none : .succeeded(text)
    }

    /// Shows why the request failed.
    package mutating func fail(_ text: String) { operation = .failed(text) }
}

// Keys.
extension ListScreen {
    /// Takes a key.
    ///
    /// - Returns: The requests to send to the service.
    package mutating func press(_ key: Key) -> [ListRequest] {
        if case .running = operation {} else { operation = .none }
        switch mode {
        case .list: return pressInList(key)
        case .search: pressInSearch(key)
        case .add(let text): return pressInAdd(key, text)
        case .menu(let id, let place, let state): return pressInMenu(key, id, place, state)
        case .consent(let verb, let ids): return pressInConsent(key, verb, ids)
        case .details, .help: pressInBox(key)
        }
        return []
    }

    private mutating func pressInList(_ key: Key) -> [ListRequest] {
        switch key {
        case .up: list.moveCursor(by: -1)
        case .down: list.moveCursor(by: 1)
        case .pageUp: list.moveCursor(by: -pageRows)
        case .pageDown: list.moveCursor(by: pageRows)
        case .home: list.moveCursor(to: 0)
        case .end: list.moveCursor(to: .max)
        case .wheel(let lines): list.moveCursor(by: lines)
        case .click(let line): _ = moveCursor(toLine: line)
        case .doubleClick(let line):
            guard moveCursor(toLine: line) else { break }
            return pressInList(.enter)
        case .paste(let text): mode = .add(Self.words(of: text).joined(separator: " "))
        case .enter:
            if list.isEditing {
                list.toggleChoice()
            } else if let task = current(), let verb = ListVerb.toggle(of: task.state) {
                return [.verb(verb, [task.id])]
            }
        case .escape:
            if list.isEditing { list.setEditing(false) } else { list.search = "" }
        case .delete: return ask(.remove)
        case .backspace, .deleteWord, .deleteAll: break
        case .character(let character): return pressInList(character)
        }
        return []
    }

    private mutating func pressInList(_ character: Character) -> [ListRequest] {
        switch character {
        case "k": list.moveCursor(by: -1)
        case "j": list.moveCursor(by: 1)
        case "g": list.moveCursor(to: 0)
        case "G": list.moveCursor(to: .max)
        case " ":
            if !list.isEditing { list.setEditing(true) }
            list.toggleChoice()
            list.moveCursor(by: 1)
        case "*": list.toggleAll()
        case "e": list.setEditing(!list.isEditing)
        case "/": mode = .search
        case "f": list.filter = list.filter.next
        case "o": list.sort = list.sort.next
        case "O": list.isDescending.toggle()
        case "a": mode = .add("")
        case "m":
            if let task = current() { mode = .menu(id: task.id, place: 0, of: task.state) }
        case "i":
            if let task = current() { return showDetails(of: task.id) }
        case "?", "h": openBox(.help)
        case "s": return ask(.resume)
        case "p": return ask(.pause)
        case "r": return list.isEditing ? ask(.resume) : ask(.retry)
        case "c": return ask(.cancel)
        case "d": return ask(.remove)
        case "w": return ask(.reveal)
        case "S": return [.startAll]
        case "P": return [.pauseAll]
        case "C": return [.clearCompleted]
        case "R": return [.reload]
        case "q": return [.quit]
        default: break
        }
        return []
    }

    private mutating func pressInSearch(_ key: Key) {
        switch key {
        case .character(let character): list.search.append(character)
        case .paste(let text): list.search += Self.words(of: text).joined(separator: " ")
        case .backspace, .delete: if list.search.popLast() == nil { mode = .list }
        case .deleteWord: list.search = Self.withoutLastWord(list.search)
        case .deleteAll: list.search = ""
        case .escape:
            list.search = ""
            mode = .list
        case .enter: mode = .list
        case .up: list.moveCursor(by: -1)
        case .down: list.moveCursor(by: 1)
        default: break
        }
    }

    private mutating func pressInAdd(_ key: Key, _ text: String) -> [ListRequest] {
        switch key {
        case .character(let character): mode = .add(text + String(character))
        case .paste(let pasted):
            let words = Self.words(of: pasted).joined(separator: " ")
            mode = .add(text.isEmpty || text.hasSuffix(" ") ? text + words : text + " " + words)
        case .backspace, .delete: mode = .add(String(text.dropLast()))
        case .deleteWord: mode = .add(Self.withoutLastWord(text))
        case .deleteAll: mode = .add("")
        case .escape: mode = .list
        case .enter:
            mode = .list
            let urls = Self.words(of: text).map { URLText.completed($0) ?? $0 }
            return urls.isEmpty ? [] : [.add(urls)]
        default: break
        }
        return []
    }

    private mutating func pressInMenu(
        _ key: Key,
        _ id: String,
        _ place: Int,
        _ state: TaskProperties.State
    ) -> [ListRequest] {
        guard let task = list[id] else {
            mode = .list
            return []
        }
        // The state changed, and the entries with it: the key was meant for another entry.
        guard task.state == state || key == .escape else {
            mode = .menu(id: id, place: 0, of: task.state)
            return []
        }
        let entries = Self.menu(of: task)
        let chosen = min(place, entries.count - 1)
        switch key {
        case .up, .character("k"): mode = .menu(id: id, place: max(0, chosen - 1), of: state)
        case .down, .character("j"):
            mode = .menu(id: id, place: min(entries.count - 1, chosen + 1), of: state)
        case .enter:
            mode = .list
            guard let verb = entries[chosen].verb else { return showDetails(of: id) }
            return ask(verb, [id])
        case .character(let character):
            guard let digit = character.wholeNumberValue, entries.indices.contains(digit - 1) else {
                mode = .list
                return []
            }
            mode = .menu(id: id, place: digit - 1, of: state)
            return pressInMenu(.enter, id, digit - 1, state)
        default: mode = .list
        }
        return []
    }

    private mutating func openBox(_ mode: Mode) {
        self.mode = mode
        box = ScreenBox()
    }

    private mutating func showDetails(of id: String) -> [ListRequest] {
        openBox(.details(id: id))
        return [.details(id)]
    }

    private mutating func pressInBox(_ key: Key) {
        switch key {
        case .up, .character("k"): box.move(by: -1)
        case .down, .character("j"): box.move(by: 1)
        case .pageUp: box.move(by: -box.room)
        case .pageDown, .character(" "): box.move(by: box.room)
        case .home, .character("g"): box.move(by: -box.count)
        case .end, .character("G"): box.move(by: box.count)
        case .wheel(let lines): box.move(by: lines)
        default: mode = .list
        }
    }

    private mutating func pressInConsent(
        _ key: Key,
        _ verb: ListVerb,
        _ ids: [String]
    ) -> [ListRequest] {
        mode = .list
        // Not Enter: it opens this question from the menu, and may be pressed once too often.
        guard key == .character("y") else { return [] }
        if list.isEditing { list.setEditing(false) }
        return [.verb(verb, ids)]
    }

    /// Requests a verb for the chosen downloads; asks first where data would be lost.
    private mutating func ask(_ verb: ListVerb, _ ids: [String]? = nil) -> [ListRequest] {
        let ids = ids ?? list.targets()
        guard !ids.isEmpty else { return [] }
        if verb == .reveal, ids.contains(where: { list[$0]?.state != .completed }) {
            fail("Only a completed download can be shown in its folder.")
            return []
        }
        guard !verb.needsConsent else {
            askForConsent(to: verb, ids)
            return []
        }
        if list.isEditing { list.setEditing(false) }
        return [.verb(verb, ids)]
    }

    /// Asks before data is lost, about the downloads whose state allows the verb.
    private mutating func askForConsent(to verb: ListVerb, _ ids: [String]) {
        let fitting = ids.filter { id in
            list[id].map { ListVerb.verbs(for: $0.state).contains(verb) } ?? true
        }
        if !fitting.isEmpty {
            mode = .consent(verb, fitting)
        } else if ids.count == 1, let task = list[ids[0]] {
            // Of the keys, only that of Cancel may not fit. The service says the same.
            fail("The task is \(task.state). Remove takes it off the list.")
        } else {
            fail("None of the selected downloads can be cancelled.")
        }
    }

    private mutating func current() -> TaskProperties? {
        _ = list.rows()
        return list.cursor.flatMap { list[$0] }
    }

    /// Puts the cursor on the row at a line of the screen.
    ///
    /// - Returns: Whether the line has a row; if not, the cursor stays.
    private mutating func moveCursor(toLine line: Int) -> Bool {
        let row = line - margins.head
        guard (0..<pageRows).contains(row), list.content() == .loaded,
            top + row < list.rows().count
        else { return false }
        list.moveCursor(to: top + row)
        return true
    }

    private static func words(of text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    private static func withoutLastWord(_ text: String) -> String {
        var text = text
        while text.last?.isWhitespace == true { text.removeLast() }
        while text.last?.isWhitespace == false { text.removeLast() }
        return text
    }

    /// The entries of a menu; the one without a verb shows the details.
    static func menu(of task: TaskProperties) -> [(title: String, verb: ListVerb?)] {
        ListVerb.verbs(for: task.state).map { ($0.title(in: [task.state]), $0) }
            + [("Details", nil)]
    }
}

extension TaskQuery.Sort {
    /// The next order; after the last comes the first.
    fileprivate var next: TaskQuery.Sort {
        let all = Self.allCases
        let place = all.firstIndex(of: self) ?? 0
        return all[(place + 1) % all.count]
    }
}
