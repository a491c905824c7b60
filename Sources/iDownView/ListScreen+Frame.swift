// SPDX-License-Identifier: Apache-2.0

import iDownBus

extension ListScreen {
    /// What to draw.
    ///
    /// - Parameters:
    ///   - width: Cells a line.
    ///   - height: Lines.
    ///   - time: Writes µs since the epoch as a local time.
    /// - Returns: The screen; rows that do not fit are above or below it, around the cursor.
    package mutating func frame(
        width: Int,
        height: Int,
        time: (UInt64) -> String
    ) -> ScreenFrame {
        var frame = ScreenFrame(width: width, height: height)
        let message = message(in: frame)
        margins = Margins(height: height, message: message.lines.count)
        pageRows = max(1, height - margins.head - margins.foot)
        putHead(into: &frame)
        putRows(into: &frame)
        putFoot(message, into: &frame)
        switch mode {
        case .menu(let id, let place, _):
            if let task = list[id] { putMenu(of: task, place, into: &frame) }
        case .details(let id):
            if let task = list[id] { putDetails(of: task, time: time, into: &frame) }
        case .help:
            putBox(title: "Keys", Self.keys, into: &frame)
        case .list, .search, .add, .consent:
            break
        }
        return frame
    }

    private mutating func putHead(into frame: inout ScreenFrame) {
        // Signs where words do not fit; they stand before the rows, too.
        let hasRoom = frame.width >= Self.wide
        var parts = ["\(list.count) downloads"]
        for state in TaskProperties.State.known where list.count(in: state) > 0 {
            let count = list.count(in: state)
            parts.append(hasRoom ? "\(count) \(state)" : "\(ListRow.sign(of: state))\(count)")
        }
        let view = [
            list.filter == .all ? "" : "only \(list.filter.name)",
            list.search.isEmpty ? "" : "/\(list.search)",
            list.sort == .added && !list.isDescending
                ? "" : "by \(list.sort.rawValue)\(list.isDescending ? " ↑" : "")",
        ].filter { !$0.isEmpty }.joined(separator: "  ")
        guard margins.head > 0 else { return }
        let line = String(repeating: " ", count: frame.width)
        frame.put(CellText(line), line: 0, column: 0, isReversed: true)
        let right = CellText(view).cut(to: frame.width / 2)
        let column = frame.width - right.width - 1
        let left = CellText(" idown  " + parts.joined(separator: hasRoom ? ", " : "  "))
        frame.put(left, line: 0, column: 0, isReversed: true, width: column - 1)
        frame.put(right, line: 0, column: column, ink: .bold, isReversed: true)
        guard margins.head > 1 else { return }
        let row = ListRow(width: frame.width, isEditing: list.isEditing)
        row.putHeading(line: 1, into: &frame)
    }

    private mutating func putRows(into frame: inout ScreenFrame) {
        let content = list.content()
        guard content == .loaded else {
            let text =
                switch content {
                case .loading: "Loading …"
                case .empty: "No downloads. Press a to add one."
                case .noneFound: "Nothing fits. Esc ends the search, f changes the filter."
                case .failed(let reason): "\(reason)  Press R to try again."
                case .loaded: ""
                }
            let ink: Style.Ink = if case .failed = content { .red } else { .plain }
            let line = margins.head + (pageRows > 1 ? 1 : 0)
            frame.put(CellText(text), line: line, column: 2, ink: ink)
            return
        }
        let rows = list.rows()
        let cursor = list.cursorRow()
        top = max(0, min(top, rows.count - pageRows))
        if cursor < top { top = cursor }
        if cursor >= top + pageRows { top = cursor - pageRows + 1 }
        let row = ListRow(width: frame.width, isEditing: list.isEditing)
        for (place, id) in rows[top...].prefix(pageRows).enumerated() {
            guard let task = list[id] else { continue }
            row.put(
                task,
                line: margins.head + place,
                hasCursor: top + place == cursor,
                isChosen: list.chosen.contains(id),
                into: &frame
            )
        }
    }

    private mutating func putFoot(_ message: Message, into frame: inout ScreenFrame) {
        let height = frame.lines.count
        let isWhole = margins.foot >= Margins.wholeFoot
        if isWhole {
            frame.put(totals(), line: height - margins.foot, column: 1, ink: .bold)
            frame.put(CellText(hints(width: frame.width)), line: height - 1, column: 1, ink: .dim)
        }
        let line = isWhole ? height - margins.foot + 1 : height - 1
        switch mode {
        case .search: prompt("Search: ", list.search, line: line, into: &frame)
        case .add(let text): prompt("URL: ", text, line: line, into: &frame)
        case .consent, .list, .menu, .details, .help:
            // A question is asked also where there is no room but for the rows.
            guard margins.foot > 0 || message.isQuestion else { return }
            for (place, text) in message.lines.enumerated() where isWhole || place == 0 {
                frame.blank(line: line + place, column: 0, width: frame.width)
                frame.put(text, line: line + place, column: 1, ink: message.ink)
            }
        }
    }

    private func prompt(
        _ title: String,
        _ text: String,
        line: Int,
        into frame: inout ScreenFrame
    ) {
        frame.blank(line: line, column: 0, width: frame.width)
        frame.put(CellText(title), line: line, column: 1, ink: .bold)
        let column = 1 + title.utf8.count
        // The end is what is being typed.
        let shown = CellText(text).simplified.end(within: max(1, frame.width - column - 1))
        frame.put(shown, line: line, column: column)
        frame.type(line: line, column: column + shown.width)
    }

    private func totals() -> CellText {
        let totals = list.totals
        var parts: [String] = []
        if list.count(in: .downloading) > 0 {
            parts.append(ByteRate(totals.speed).description)
            if totals.whole > 0 {
                parts.append("\(ByteCount(totals.done)) of \(ByteCount(totals.whole))")
                let left = TimeLeft(
                    remaining: totals.whole - min(totals.done, totals.whole),
                    bytesPerSecond: totals.knownSpeed
                )
                if let left { parts.append("\(left) left") }
            }
        }
        if list.isEditing { parts.append("\(list.chosen.count) chosen") }
        return CellText(parts.joined(separator: "   "))
    }

    private struct Message {
        let lines: [CellText]
        let ink: Style.Ink
        var isQuestion = false
    }

    /// A question, what is under way, or what was answered; else what the cursor's task has to tell.
    ///
    /// What matters goes on in the next line where it does not fit into one.
    private mutating func message(in frame: ScreenFrame) -> Message {
        let cells = max(1, frame.width - 2)
        func wrapped(_ text: String, _ ink: Style.Ink, isQuestion: Bool = false) -> Message {
            let lines = CellText(text).wrapped(to: cells)
            // The details have all of it; the rows are what one came for.
            let most = max(1, frame.lines.count / 3)
            guard lines.count > most else {
                return Message(lines: lines, ink: ink, isQuestion: isQuestion)
            }
            let last = CellText(lines[most - 1].padded(to: cells - 1) + "…")
            return Message(lines: lines[..<(most - 1)] + [last], ink: ink, isQuestion: isQuestion)
        }
        switch mode {
        // One line for what is typed.
        case .search, .add: return Message(lines: [CellText("")], ink: .plain)
        case .consent(let verb, let ids):
            let what = ids.count == 1 ? "download \(ids[0])" : "\(ids.count) downloads"
            let question = "\(verb.title): \(what)?  y: yes, other keys: no"
            return wrapped(question, .bold, isQuestion: true)
        case .list, .menu, .details, .help: break
        }
        switch operation {
        case .running(let text): return wrapped("\(text) …", .plain)
        case .succeeded(let text): return wrapped(text, .green)
        case .failed(let text): return wrapped(text, .red)
        case .none: break
        }
        guard list.content() == .loaded, let task = list.cursor.flatMap({ list[$0] }) else {
            return Message(lines: [CellText("")], ink: .plain)
        }
        if task.state == .failed { return wrapped(TaskSummary(task).reason.description, .red) }
        let place = task.state == .completed ? task.path : task.url
        return Message(lines: [CellText(place)], ink: .dim)
    }

    /// Cells from which on there is room for words.
    private static let wide = 110

    private func hints(width: Int) -> String {
        if list.isEditing {
            return "Space choose  * all  s start  p pause  c cancel  d delete  Esc done"
        }
        guard width >= Self.wide else {
            return "Enter pause/go on  m menu  e edit  a add  / search  f filter  ? keys  q quit"
        }
        return "Enter pause/go on  m menu  i details  e edit  a add  S start all  / search"
            + "  f filter  o sort  ? keys  q quit"
    }

    private static let keys = [
        "Enter     pauses, resumes or retries the download; opens a finished file",
        "m         all that can be done with the download under the cursor",
        "i         everything about it",
        "w         shows the finished file in its folder",
        "s p r c d start, pause, retry, cancel, delete",
        "e, Space  edit mode: choose several; * chooses all, Esc ends it",
        "a         adds a URL, typed or pasted",
        "S P C     starts all, pauses all, clears the completed",
        "/         searches in names and URLs; Esc shows all again",
        "f         shows only some states",
        "o O       another order, and the other way round",
        "R         loads the list anew",
        "q         ends this view; the downloads go on",
    ]
}
