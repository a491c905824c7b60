// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownView

/// The pane with all details of one download: picture of the file, speed, facts, history.
final class DetailsPane {
    let box: Object
    private let client: ManagerClient
    private let tasks: TaskActions
    private let title = Object.wrappedName(classes: ["title-3"])
    private let picture = Drawing(height: 40)
    private let plot = Drawing(height: 70)
    private let facts = Object(gtk_grid_get_type(), ["column-spacing": 12, "row-spacing": 4])
    private let connections = Object.label(
        classes: ["caption"],
        ["wrap": true, "selectable": true]
    )
    private let history = Object.label(classes: ["caption"], ["wrap": true, "selectable": true])
    private let expander: Object
    private let verify: Object
    private(set) var id: String?
    /// Whether the last question for the details brought an error.
    private var isBehind = false
    /// The number of selected downloads.
    private var count = 0
    private var isOpen = false
    /// The task that updates the pane while the download runs; nil at other times.
    private var looker: Task<Void, Never>?
    private var shownFacts: [TaskDetails.Fact] = []

    /// Returns the speed of a download over the last minutes; nil if none was measured.
    var samples: (String) -> SpeedSamples? = { _ in nil }
    var carryOut: (RowVerb, String) -> Void = { _, _ in }

    /// Pixels of the pane.
    static let width = 320
    /// The time between two updates while the download runs.
    private static let pace: Duration = .seconds(1)

    init(_ client: ManagerClient, _ tasks: TaskActions) {
        self.client = client
        self.tasks = tasks
        expander = Object(
            gtk_expander_get_type(),
            ["label": .text(translated("History")), "child": .object(history)]
        ).named(translated("History"))
        verify = .textButton(translated("Check the File"))
        let edit = Object.textButton(translated("Change…"))
        let content = Object.box(
            vertical: true,
            spacing: 12,
            margin: 12,
            [
                title, picture.area, plot.area, .box(vertical: true, spacing: 6, [edit, verify]),
                facts,
                connections,
                expander,
            ]
        )
        box = .scrolled(content).adding(["background"])
        box.set("width-request", .number(Self.width))
        box.set("hexpand", false)
        box.set("visible", false)
        picture.area.named(translated("Parts of the file that are here"))
        plot.area.named(translated("Speed over the last minutes"))
        edit.on("clicked") { [weak self] _ in self?.ask(.edit) }
        verify.on("clicked") { [weak self] _ in self?.ask(.verify) }
        expander.onChange(of: "expanded") { [weak self] in self?.look() }
    }

    private func ask(_ verb: RowVerb) {
        if let id { carryOut(verb, id) }
    }

    /// Shows another download; with nil, shows how many downloads are selected.
    func show(_ id: String?, of count: Int) {
        guard id != self.id || id == nil && count != self.count else { return }
        (self.id, self.count) = (id, count)
        clear()
        look()
    }

    /// Takes note that the pane was opened or closed; updates it if it is open.
    func setOpen(_ isOpen: Bool) {
        self.isOpen = isOpen
        look()
    }

    /// Updates the pane if its download is one of these, or if the last question brought an error.
    ///
    /// A running download is updated every second anyway.
    func renew(_ ids: Set<String> = []) {
        if looker == nil, let id, isBehind || ids.contains(id) { look() }
    }

    /// Loads the details of the download, and again every second while it runs.
    private func look() {
        looker?.cancel()
        looker = nil
        guard isOpen, let id else { return show(TaskProperties()) }
        tasks.pulse.check()
        let client = client
        looker = Task { [weak self] in
            while await self?.lookOnce(at: id, client) == true {
                try? await Task.sleep(for: Self.pace)
            }
            // After a cancellation `looker` already holds the next task.
            if !Task.isCancelled { self?.looker = nil }
        }
    }

    /// - Returns: Whether the download runs and is still the one that the pane shows.
    private func lookOnce(at id: String, _ client: ManagerClient) async -> Bool {
        let answer = try? await client.getTask(id)
        guard !Task.isCancelled else { return false }
        isBehind = answer == nil
        guard let task = answer else { return false }
        let connections = (try? await client.connections(of: id)) ?? []
        let isExpanded = expander.flag("expanded")
        let entries = isExpanded ? (try? await client.history(of: id)) ?? [] : []
        guard !Task.isCancelled else { return false }
        show(task)
        show(task, connections)
        if isExpanded { show(entries) }
        return task.state == .downloading
    }

    /// Takes the facts of the download before away, and shows what the row of this one tells.
    private func clear() {
        guard let id, let task = RowModel.shared.pages[id] else { return show(TaskProperties()) }
        show(task, facts: [])
        for object in [picture.area, plot.area, connections] { object.set("visible", false) }
        history.set("label", "")
    }

    private func show(_ task: TaskProperties) {
        show(task, facts: task.id.isEmpty ? [] : TaskDetails.facts(task, Self.time))
    }

    private func show(_ task: TaskProperties, facts: [TaskDetails.Fact]) {
        let isEmpty = task.id.isEmpty
        let none =
            switch count {
            case 0: translated("No download is selected")
            case 1: ""
            default: counted("{count} selected", "{count} selected", UInt(count))
            }
        title.set("label", .text(isEmpty ? none : RowText(task).name))
        // The grid of facts stays: GTK 4.8 keeps the height that a hidden grid had without its texts.
        for object in [picture.area, plot.area, connections, expander] {
            object.set("visible", .flag(!isEmpty))
        }
        verify.set("visible", .flag(task.state == .completed))
        gtk_widget_set_visible(gtk_widget_get_parent(verify.widget), isEmpty ? 0 : 1)
        guard facts != shownFacts else { return }
        let isSameShape = facts.map(\.title) == shownFacts.map(\.title)
        shownFacts = facts
        for (row, fact) in facts.enumerated() where isSameShape {
            guard let label = gtk_grid_get_child_at(self.facts.to(), 1, gint(row)) else { continue }
            Object(label).set("label", .text(fact.text.description))
        }
        guard !isSameShape else { return }
        while let child = gtk_widget_get_first_child(self.facts.widget) {
            gtk_grid_remove(self.facts.to(), child)
        }
        for (row, fact) in facts.enumerated() {
            let name = Object.label(fact.title, classes: ["dim-label"], ["yalign": 0.0])
            let value = Object.wrappedName(fact.text.description)
            value.set("selectable", true)
            value.set("hexpand", true)
            gtk_grid_attach(self.facts.to(), name.widget, 0, gint(row), 1, 1)
            gtk_grid_attach(self.facts.to(), value.widget, 1, gint(row), 1, 1)
        }
    }

    private func show(_ task: TaskProperties, _ connections: [OpenConnection]) {
        picture.draw = { Self.drawParts(of: task, connections, $0, $1, $2) }
        let samples = samples(task.id)
        plot.draw = { Self.drawSpeeds(samples, $0, $1, $2) }
        plot.area.set("visible", .flag(samples != nil))
        let lines = connections.map { connection in
            "\(connection.host)  \(connection.transport)  \(ByteRate(connection.speed))"
        }
        self.connections.set("label", .text(lines.joined(separator: "\n")))
        self.connections.set("visible", .flag(!lines.isEmpty))
        picture.area.described(TaskSummary(task).percent)
    }

    private func show(_ entries: [HistoryEntry]) {
        let lines = entries.suffix(50).map { entry in
            "\(Self.time(entry.time))  \(FailureText.withoutEditCommand(entry.sentence))"
        }
        history.set(
            "label",
            .text(lines.isEmpty ? translated("Nothing is known") : lines.joined(separator: "\n"))
        )
    }

    /// Writes µs since the epoch as a local time.
    static func time(_ microseconds: UInt64) -> String {
        guard let time = g_date_time_new_from_unix_local(gint64(microseconds / 1_000_000)) else {
            return ""
        }
        defer { g_date_time_unref(time) }
        guard let text = g_date_time_format(time, "%x %X") else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}

// Pictures.
extension DetailsPane {
    /// Draws the file from left to right: the bytes on disk, and the range of each connection.
    private static func drawParts(
        of task: TaskProperties,
        _ connections: [OpenConnection],
        _ cairo: OpaquePointer,
        _ width: Double,
        _ height: Double
    ) {
        cairo_set_source_rgba(cairo, 0.5, 0.5, 0.5, 0.25)
        cairo_rectangle(cairo, 0, 0, width, height)
        cairo_fill(cairo)
        guard let total = task.knownTotal, total > 0 else { return }
        func add(_ first: UInt64, _ length: UInt64) {
            let start = width * Double(first) / Double(total)
            let part = max(1, width * Double(length) / Double(total))
            cairo_rectangle(cairo, start, 0, part, height)
        }
        // All ranges are filled together, so that overlapping ones get no darker colour.
        for connection in connections where connection.first < total {
            add(connection.first, min(connection.length ?? total, total - connection.first))
        }
        cairo_set_source_rgba(cairo, 0.2, 0.52, 0.89, 0.55)
        cairo_fill(cairo)
        if task.state == .completed { add(0, total) }
        for range in task.byteRanges { add(range.first, range.length) }
        cairo_set_source_rgb(cairo, 0.18, 0.62, 0.37)
        cairo_fill(cairo)
    }

    /// Draws the speed over the last minutes, the newest at the right.
    private static func drawSpeeds(
        _ samples: SpeedSamples?,
        _ cairo: OpaquePointer,
        _ width: Double,
        _ height: Double
    ) {
        guard let values = samples?.values, let last = values.last else { return }
        let most = Double(max(1, values.map(\.speed).max() ?? 1))
        let span = Double(SpeedSamples.span.components.seconds)
        cairo_move_to(cairo, width, height)
        for value in values.reversed() {
            let age = (last.time - value.time) / .seconds(1)
            cairo_line_to(
                cairo,
                width * (1 - age / span),
                height * (1 - 0.95 * Double(value.speed) / most)
            )
        }
        let age = (last.time - values[0].time) / .seconds(1)
        cairo_line_to(cairo, width * (1 - age / span), height)
        cairo_close_path(cairo)
        cairo_set_source_rgba(cairo, 0.18, 0.62, 0.37, 0.35)
        cairo_fill_preserve(cairo)
        cairo_set_source_rgb(cairo, 0.18, 0.62, 0.37)
        cairo_set_line_width(cairo, 1.5)
        cairo_stroke(cairo)
    }
}

/// A drawing area whose content a Swift closure draws.
private final class Drawing {
    let area: Object
    var draw: (OpaquePointer, Double, Double) -> Void = { _, _, _ in } {
        didSet { gtk_widget_queue_draw(area.widget) }
    }

    init(height: Int) {
        area = Object(
            gtk_drawing_area_get_type(),
            ["content-height": .number(height), "hexpand": true]
        )
        gtk_drawing_area_set_draw_func(
            area.to(),
            { _, cairo, width, height, data in
                guard let cairo, let data else { return }
                let drawing = Unmanaged<Drawing>.fromOpaque(data).takeUnretainedValue()
                drawing.draw(cairo, Double(width), Double(height))
            },
            Unmanaged.passUnretained(self).toOpaque(),
            nil
        )
    }
}
