// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownView

/// The widgets of one row, which GTK reuses for one download after another.
final class RowView {
    /// The id of the download; nil while it is not loaded.
    private(set) var id: UInt64?
    let box: Object
    private let icon = Object(gtk_image_get_type())
    private let name = Object.cell(characters: 8)
    private let source = Object.cell(characters: 18, classes: ["dim-label"])
    private let bar = Object(
        gtk_progress_bar_get_type(),
        ["valign": .choice(GTK_ALIGN_CENTER)]
    ).named(translated("Progress"))
    private let bytes = Object.cell(characters: RowView.bytesWidth, isRight: true)
    private let speed = Object.cell(characters: RowView.stateWidth, isRight: true)
    private let timeLeft = Object.cell(
        characters: RowView.leftWidth,
        isRight: true,
        classes: ["dim-label"]
    )
    private let reason = Object.cell(characters: 24)
    private let figures: Object
    private let stack = Object(gtk_stack_get_type())
    private let actions = Actions(map: Object(g_simple_action_group_new()))
    private var shown: (text: RowText, icon: String, note: String?)?
    private var width: Width?
    private var verbs: [RowVerb] = []
    private var style: String?
    /// Whether the row is shown empty because its download is not loaded.
    private var isBlank = false
    private var parent: Object?
    private let carryOut: (RowVerb, UInt64) -> Void

    /// How many columns a row has room for.
    enum Width: Int, Comparable {
        case narrow, middle, wide

        init(pixels: Int) { self = pixels < 560 ? .narrow : pixels < 860 ? .middle : .wide }

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

        /// The width of the bar.
        var barPixels: Int { self == .narrow ? 56 : 120 }
    }

    static let bytesWidth = 20
    static let leftWidth = 17
    /// The width in characters of the speed, or of the state in its place.
    static let stateWidth = 13

    /// Makes an empty row; `carryOut` is what its actions call.
    init(carryOut: @escaping (RowVerb, UInt64) -> Void) {
        bar.set("width-request", 120)
        stack.set("hexpand", false)
        figures = .box(spacing: 12, [bytes, speed, timeLeft])
        for (page, child) in [("figures", figures), ("reason", reason)] {
            gtk_stack_add_named(stack.opaque, child.widget, page)
        }
        name.set("hexpand", true)
        box = .box(spacing: 12, [icon, name, source, bar, stack]).adding(["download"])
        box.nameParts()
        self.carryOut = carryOut
        // The tooltip shows the texts that have no room in the row.
        box.set("has-tooltip", true)
        box.answer("query-tooltip") { [weak self] arguments in
            guard let shown = self?.shown else { return false }
            let text = "\(shown.text.name)\n\(shown.note ?? shown.text.description)"
            gtk_tooltip_set_text(arguments.object(4).opaque, text)
            return true
        }
    }

    // GTK keeps a reference of its own to the actions while the row's widget exists.
    isolated deinit { actions.map.drop() }

    /// Shows a download.
    ///
    /// - Parameters:
    ///   - task: The download; nil while it is not loaded.
    ///   - id: Its id.
    ///   - note: A text in place of the numbers, for a row that is about to be removed.
    func show(_ task: TaskProperties?, id: UInt64?, note: String? = nil) {
        self.id = id
        guard let task else { return showNothing() }
        let text = RowText(task)
        let verbs = RowVerb.verbs(for: task)
        let icon = Self.icon(of: task)
        if let shown, shown.text == text, shown.note == note, shown.icon == icon { return }
        if shown?.icon != icon { gtk_image_set_from_gicon(self.icon.opaque, Self.picture(icon)) }
        shown = (text, icon, note)
        update(name, text.name)
        update(source, text.source)
        update(bytes, text.bytes)
        update(speed, text.speed)
        update(timeLeft, text.timeLeft)
        let words = note ?? text.reason
        showReason()
        gtk_stack_set_visible_child_name(stack.opaque, words == nil ? "figures" : "reason")
        // An unknown fraction is shown as an empty bar instead of a guess.
        gtk_progress_bar_set_fraction(bar.opaque, text.fraction ?? 0)
        let state: TaskProperties.State = text.isFailure ? .failed : task.state
        wear(note == nil ? Self.classes[state] : "leaving")
        offer(verbs)
        if isBlank { gtk_widget_set_opacity(box.widget, 1) }
        isBlank = false
        guard let row = outside else { return }
        row.named(text.name)
        row.described(note ?? text.description)
    }

    /// Shows an empty row, because its download is not loaded.
    ///
    /// GTK asks for 200 such rows when the user drags the list to its end, so this must be fast:
    /// the row only becomes transparent. Its actions stay, and do nothing.
    private func showNothing() {
        guard !isBlank else { return }
        (isBlank, shown) = (true, nil)
        gtk_widget_set_opacity(box.widget, 0)
        outside?.named("…")
        outside?.described("")
    }

    /// GTK's widget around the row, which assistive technology sees; nil before it exists.
    private var outside: Object? {
        if let known = parent { return known }
        guard let parent = gtk_widget_get_parent(box.widget) else { return nil }
        gtk_widget_insert_action_group(parent, "row", actions.map.opaque)
        self.parent = Object(parent)
        return self.parent
    }

    private func wear(_ style: String?) {
        guard style != self.style else { return }
        if let old = self.style { box.setClass(old, false) }
        if let style { box.setClass(style, true) }
        self.style = style
    }

    /// Adds and removes actions until the row has exactly these.
    ///
    /// GTK keeps 200 rows, and most of them need few actions.
    private func offer(_ verbs: [RowVerb]) {
        guard verbs != self.verbs else { return }
        for verb in self.verbs where !verbs.contains(verb) { actions.remove(verb.rawValue) }
        for verb in verbs where !self.verbs.contains(verb) {
            actions.add(verb.rawValue) { [weak self] in
                if let self, let id = self.id { self.carryOut(verb, id) }
            }
        }
        self.verbs = verbs
    }

    /// Hides the columns that do not fit.
    func fit(_ width: Width) {
        guard width != self.width else { return }
        self.width = width
        source.set("visible", .flag(width == .wide))
        timeLeft.set("visible", .flag(width == .wide))
        bytes.set("visible", .flag(width >= .middle))
        bar.set("width-request", .number(width.barPixels))
        reason.setCharacters(width == .narrow ? Self.stateWidth : 24)
        showReason()
        name.setCharacters(width == .narrow ? 5 : 8)
    }

    /// Shows why the download does not move; in a narrow row its state, or that its file is wrong.
    private func showReason() {
        guard let shown else { return }
        let isNarrow = width == .narrow
        update(reason, shown.note ?? (isNarrow ? shown.text.state : shown.text.reason) ?? "")
        reason.set("xalign", isNarrow ? 1.0 : 0.0)
    }

    private func update(_ cell: Object, _ text: String) {
        gtk_inscription_set_text(cell.opaque, text)
    }

    private static let classes: [TaskProperties.State: String] = [
        .downloading: "running", .paused: "paused", .failed: "failed", .waiting: "waiting",
        .completed: "completed", .cancelled: "cancelled",
    ]

    // MARK: Icons

    /// Returns the media type that the file name implies; if that is unsure, the server's type.
    private static func icon(of task: TaskProperties) -> String {
        var isUnsure: gboolean = 0
        guard let type = g_content_type_guess(task.fileName, nil, 0, &isUnsure) else { return "" }
        defer { g_free(type) }
        guard isUnsure != 0, !task.mimeType.isEmpty else { return String(cString: type) }
        return task.mimeType
    }

    /// The icons by media type; there are a few dozen at most.
    private static var pictures: [String: OpaquePointer] = [:]

    private static func picture(_ type: String) -> OpaquePointer? {
        if let known = pictures[type] { return known }
        guard let picture = g_content_type_get_symbolic_icon(type) else { return nil }
        pictures[type] = picture
        return picture
    }
}
