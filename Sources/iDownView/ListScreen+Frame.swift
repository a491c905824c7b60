// SPDX-License-Identifier: Apache-2.0

import iDownBus

extension ListScreen {
    /// Returns what to draw.
    ///
    /// - Parameters:
    ///   - width: Cells in a line.
    ///   - height: Lines.
    ///   - time: Writes µs since the epoch as a local time.
    /// - Returns: The screen; if not all rows fit, those around the cursor are on it.
    package mutating func frame(width: Int, height: Int, time: (UInt64) -> String) -> ScreenFrame {
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
        case .help: box.put(title: "Keys", ListKeys.help, into: &frame)
        case .list, .search, .add, .consent: break
        }
        return frame
    }

    private mutating func putHead(into frame: inout ScreenFrame) {
        // On a narrow screen the signs of the states replace their names.
        let hasRoom = frame.width >= Self.wide
        var parts = [list.count == 1 ? "1 download" : "\(list.count) downloads"]
        for state in TaskProperties.State.known where list.count(in: state) > 0 {
            let count = list.count(in: state)
            parts.append(hasRoom ? "\(count) \(state)" : "\(ListRow.sign(of: state))\(count)")
        }
        let view = [
            list.filter == .all ? "" : "filter: \(list.filter.name)",
            list.search.isEmpty ? "" : "search: \(list.search)",
            list.sort == .added && !list.isDescending
                ? "" : "sort: \(list.sort.rawValue)\(list.isDescending ? " ↑" : "")",
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
                case .loading: "Loading the downloads …"
                case .empty: "No downloads. Press a to add one."
                case .noneFound: "No download matches. Esc ends the search, f changes the filter."
                case .failed(let reason): "\(reason)  R tries again."
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

    private mutating func putFoot(_ message: ScreenMessage, into frame: inout ScreenFrame) {
        let height = frame.lines.count
        let isWhole = margins.foot >= Margins.wholeFoot
        if isWhole {
            frame.put(list.summary(), line: height - margins.foot, column: 1, ink: .bold)
            frame.put(CellText(hints(width: frame.width)), line: height - 1, column: 1, ink: .dim)
        }
        let line = isWhole ? height - margins.foot + 1 : height - 1
        switch mode {
        case .search: prompt("Search: ", list.search, line: line, into: &frame)
        case .add(let text): prompt("URL: ", text, line: line, into: &frame)
        case .consent, .list, .menu, .details, .help:
            // A question is shown even if the screen has room only for the rows.
            guard margins.foot > 0 || message.isQuestion else { return }
            for (place, text) in message.lines.enumerated() where isWhole || place == 0 {
                frame.blank(line: line + place, column: 0, width: frame.width)
                frame.put(text, line: line + place, column: 1, ink: message.ink)
            }
        }
    }

    private func prompt(_ title: String, _ text: String, line: Int, into frame: inout ScreenFrame) {
        frame.blank(line: line, column: 0, width: frame.width)
        frame.put(CellText(title), line: line, column: 1, ink: .bold)
        let column = 1 + title.utf8.count
        // If the text is too long, its end is shown: there the user types.
        let shown = CellText(text).simplified.end(within: max(1, frame.width - column - 1))
        frame.put(shown, line: line, column: column)
        frame.type(line: line, column: column + shown.width)
    }

    /// Returns the question, the operation under way or its result; without any of them, the error,
    /// the path or the URL of the download under the cursor.
    ///
    /// A question, a result and an error wrap; a path and a URL are cut.
    private mutating func message(in frame: ScreenFrame) -> ScreenMessage {
        switch mode {
        // The typed text takes one line.
        case .search, .add: return ScreenMessage(CellText(""), .plain)
        case .consent(let verb, let ids):
            let question = verb.question(ids, list)
            return ScreenMessage(wrapping: question, .bold, isQuestion: true, in: frame)
        case .list, .menu, .details, .help: break
        }
        switch operation {
        case .running(let text): return ScreenMessage(wrapping: "\(text) …", .plain, in: frame)
        case .succeeded(let text): return ScreenMessage(wrapping: text, .green, in: frame)
        case .failed(let text): return ScreenMessage(wrapping: text, .red, in: frame)
        case .none: break
        }
        guard list.content() == .loaded, let task = list.cursor.flatMap({ list[$0] }) else {
            return ScreenMessage(CellText(""), .plain)
        }
        if task.state == .failed {
            let reason = TaskSummary(task).reason.description
            return ScreenMessage(wrapping: reason, .red, in: frame)
        }
        let place = task.state == .completed ? task.path : task.url
        return ScreenMessage(CellText(place), .dim)
    }

    /// The width from which words fit instead of signs.
    private static let wide = 110

    private mutating func hints(width: Int) -> String {
        let state = list.content() == .loaded ? list.cursor.flatMap { list[$0]?.state } : nil
        return ListKeys.hints(mode, list.isEditing, state, isWide: width >= Self.wide)
    }

    private mutating func putMenu(
        of task: TaskProperties,
        _ place: Int,
        into frame: inout ScreenFrame
    ) {
        let entries = Self.menu(of: task)
        let name = TaskSummary(task).shortName.simplified.cut(to: 40).description
        box.put(
            title: name,
            entries.enumerated().map { "\($0.offset + 1)  \($0.element.title)" },
            marked: min(place, entries.count - 1),
            into: &frame
        )
    }

    private mutating func putDetails(
        of task: TaskProperties,
        time: (UInt64) -> String,
        into frame: inout ScreenFrame
    ) {
        let room = TaskDetails.Room.box(width: ScreenBox.width(in: frame))
        let details = TaskDetails(task, style: .plain, room: room, time: time)
        box.put(title: "Download \(task.id)", details.lines, into: &frame)
    }
}

extension TaskList {
    /// Speed, bytes and time left of all running downloads, and how many are selected.
    fileprivate func summary() -> CellText {
        let totals = totals
        var parts: [String] = []
        if count(in: .downloading) > 0 {
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
        if isEditing { parts.append("\(chosen.count) selected") }
        return CellText(parts.joined(separator: "   "))
    }
}

extension ListVerb {
    /// Asks whether to carry it out.
    fileprivate func question(_ ids: [String], _ list: TaskList) -> String {
        var what = "\(ids.count) downloads"
        if ids.count == 1, let task = list[ids[0]] {
            what = TaskSummary(task).shortName.cut(to: 40).description
        }
        let states = Set(ids.compactMap { list[$0]?.state })
        return "\(title(in: states)): \(what)?  y: yes, any other key: no"
    }
}

/// The text below the rows.
private struct ScreenMessage {
    let lines: [CellText]
    let ink: Style.Ink
    var isQuestion = false

    /// A line that is cut where it does not fit.
    init(_ line: CellText, _ ink: Style.Ink) {
        lines = [line]
        self.ink = ink
    }

    /// A text in as many lines as it needs, but at most in a third of the screen.
    init(wrapping text: String, _ ink: Style.Ink, isQuestion: Bool = false, in frame: ScreenFrame) {
        let cells = max(1, frame.width - 2)
        let lines = CellText(text).wrapped(to: cells)
        // The rows matter more; the details show the whole error.
        let most = max(1, frame.lines.count / 3)
        if lines.count > most {
            let last = CellText(lines[most - 1].padded(to: cells - 1) + "…")
            self.lines = lines[..<(most - 1)] + [last]
        } else {
            self.lines = lines
        }
        self.ink = ink
        self.isQuestion = isQuestion
    }
}

/// The keys of the list and what they do.
private enum ListKeys {
    /// The keys that matter now, for the line below the list.
    static func hints(
        _ mode: ListScreen.Mode,
        _ isEditing: Bool,
        _ state: TaskProperties.State?,
        isWide: Bool
    ) -> String {
        switch mode {
        case .search: return "Enter keep the search  Esc show all downloads"
        case .add: return "Enter add  Esc cancel"
        case .menu: return "Enter choose  Esc close"
        case .details, .help: return "↑ ↓ scroll  Esc close"
        case .consent: return ""
        case .list: break
        }
        if isEditing {
            return "Space select  * all  s start  p pause  c cancel  d remove  Esc done"
        }
        let enter = state.flatMap(ListVerb.toggle).map { "Enter \($0.rawValue)  " } ?? ""
        guard isWide else {
            return enter + "m menu  i details  e select  a add  / search  ? keys  q quit"
        }
        return enter + "m menu  i details  e select  a add  S start all  / search  f filter"
            + "  o sort  ? keys  q quit"
    }

    static let help = [
        "Enter     pause, resume or retry the download; open a finished file",
        "m         menu: everything that you can do with the download",
        "i         details of the download; arrow keys scroll them",
        "s p r     start, pause, retry",
        "c         cancel the download and delete its partial file",
        "d         remove the download from the list; a finished file stays",
        "w         show the finished file in its folder",
        "e, Space  select several downloads; * selects all, Esc ends this",
        "a         add a URL: type it or paste it",
        "S P       start all downloads, pause all downloads",
        "C         clear completed downloads from the list; files stay",
        "/         search in names and URLs; Esc shows all downloads again",
        "f         filter by state",
        "o O       sort by something else, reverse the order",
        "R         load the list again",
        "q         quit; the downloads go on",
    ]
}
