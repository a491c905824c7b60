// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownView

/// The list: chips that filter, titles that sort, the rows, and the pages shown in their place.
final class ListPane {
    let box: Object
    private let feed: ListFeed
    private let model = RowModel.shared
    private let list: Object
    /// The widget that scrolls the list.
    private let rows: Object
    // Not homogeneous: each page would be as wide as the widest, too wide for a narrow window.
    private let stack = Object(gtk_stack_get_type(), ["vexpand": true, "hhomogeneous": false])
    private let spinner = Object(gtk_spinner_get_type(), ["width-request": 32])
        .named(translated("Loading"))
    private let failure: Object
    private let banner: Object
    private let chips: FilterChips
    private let titles: SortTitles
    /// The rows by the list items in which GTK holds them.
    private var views: [Object: RowView] = [:]
    private var viewsByID: [UInt64: RowView] = [:]
    private var width = RowView.Width.wide
    private let menu = Object(gtk_popover_menu_new_from_model(nil)).keep()

    /// Called with the verb of a row's action, of Enter or of a double click.
    var carryOut: (RowVerb, UInt64) -> Void = { _, _ in }
    /// Returns the note for a row that is about to be removed; nil for any other row.
    var note: (UInt64) -> String? = { _ in nil }
    /// Called when the filter, the search or the order has changed.
    var lookChanged: (TaskPages.Look) -> Void = { _ in }

    init(_ feed: ListFeed) {
        self.feed = feed
        let factory = Object(gtk_signal_list_item_factory_new())
        list = Object(
            gtk_list_view_get_type(),
            ["factory": .object(factory), "enable-rubberband": true]
        ).adding(["downloads"]).named(translated("Downloads"))
        gtk_list_view_set_model(list.opaque, model.object.opaque)
        rows = .scrolled(list)
        failure = .statusPage("network-error-symbolic", translated("The List Cannot Be Shown"), "")
        chips = FilterChips()
        titles = SortTitles()
        let ended = Object.label(
            translated("The service has ended. The list shows what was known last."),
            ["wrap": true, "xalign": 0.5, "hexpand": true]
        )
        let start = Object.textButton(translated("Start"), action: "win.start-service")
        start.set("valign", .choice(GTK_ALIGN_CENTER))
        banner = .box(spacing: 12, [ended, start]).adding(["banner"])
        box = .box(
            vertical: true,
            spacing: 0,
            [chips.box, banner, feed.pulse.banner(), titles.box, stack]
        )
        addPages()
        connect(factory)
        chips.chosen = { [weak self] filter in self?.change { $0.filter = filter } }
        titles.chosen = { [weak self] sort in
            self?.change { look in
                if look.sort == sort {
                    look.isDescending.toggle()
                } else {
                    look.isDescending = false
                }
                look.sort = sort
            }
        }
        feed.lookedAt = { [weak self] in self?.lookedAt ?? 0..<0 }
        model.held = { [weak self] in self?.held.map { ($0.place, $0.view.id) } ?? [] }
        model.fill = { [weak self] most in self?.fill(most) ?? false }
        addMenu()
        stayAtTop()
    }

    /// Keeps the first row in sight where it was, and in a list that was empty.
    ///
    /// GTK leaves the rows in their places, with new ones above. It also remembers a place from before
    /// the list was empty, and goes there once enough rows have come again.
    private func stayAtTop() {
        guard let adjustment else { return }
        var isAtTop = false
        model.grows = { [model] in isAtTop = model.count == 0 || adjustment.real("value") == 0 }
        adjustment.on("changed") { _ in
            guard isAtTop else { return }
            isAtTop = false
            // After the layout in which GTK moves the view.
            Task { adjustment.set("value", 0.0) }
        }
    }

    private func addPages() {
        let retry = Object.textButton(
            translated("Try Again"),
            classes: ["pill", "suggested-action"]
        )
        retry.set("halign", .choice(GTK_ALIGN_CENTER))
        retry.on("clicked") { [weak self] _ in
            self?.feed.start()
            self?.update()
        }
        failure.set("child", .object(retry))
        let add = Object.textButton(
            translated("Add a Download…"),
            classes: ["pill", "suggested-action"],
            action: "win.add"
        )
        let browsers = Object.textButton(
            translated("Downloads From Browsers…"),
            classes: ["pill"],
            action: "win.browsers"
        )
        let buttons = Object.box(vertical: true, spacing: 12, [add, browsers])
        buttons.set("halign", .choice(GTK_ALIGN_CENTER))
        let empty = Object.statusPage(
            "folder-download-symbolic",
            translated("No Downloads Yet"),
            translated("Add a link, or drop one here.")
        )
        empty.set("child", .object(buttons))
        spinner.set("halign", .choice(GTK_ALIGN_CENTER))
        let pages: [(String, Object)] = [
            ("loading", spinner), ("empty", empty), ("failed", failure),
            (
                "none",
                .statusPage(
                    "edit-find-symbolic",
                    translated("Nothing Found"),
                    translated("No download fits the search and the filter.")
                )
            ),
            ("list", rows),
        ]
        for (name, page) in pages { gtk_stack_add_named(stack.opaque, page.widget, name) }
    }

    private func connect(_ factory: Object) {
        factory.on("setup") { [weak self] arguments in
            guard let self else { return }
            let item = arguments.object(1)
            let view = RowView { [weak self] verb, id in self?.carryOut(verb, id) }
            self.views[item] = view
            view.fit(self.width)
            gtk_list_item_set_child(item.opaque, view.box.widget)
        }
        factory.on("bind") { [weak self] in self?.bind($0.object(1)) }
        factory.on("unbind") { [weak self] arguments in
            guard let self, let view = self.views[arguments.object(1)] else { return }
            if let id = view.id, self.viewsByID[id] === view { self.viewsByID[id] = nil }
        }
        factory.on("teardown") { [weak self] in self?.views[$0.object(1)] = nil }
        list.on("activate") { [weak self] arguments in
            let place = arguments.number(1)
            guard let self, let id = self.held.first(where: { $0.place == place })?.view.id,
                let task = self.model.pages["\(id)"], let verb = ListVerb.toggle(of: task.state)
            else { return }
            if let verb = RowVerb(rawValue: verb.rawValue) { self.carryOut(verb, id) }
        }
    }

    private func bind(_ item: Object) {
        guard let view = views[item], let row = gtk_list_item_get_item(item.opaque) else { return }
        let id = RowModel.id(of: Object(row))
        if let id { viewsByID[id] = view }
        show(id, in: view)
    }

    private func show(_ id: UInt64?, in view: RowView) {
        let task = id.flatMap { model.pages["\($0)"] }
        view.show(task, id: id, note: id.flatMap(note))
    }

    /// The scroll position.
    private var adjustment: Object? {
        gtk_scrollable_get_vadjustment(list.opaque).map { Object($0) }
    }

    /// The rows on the screen, computed from the scroll position: all rows have the same height.
    private var seen: Range<Int> {
        guard let adjustment, adjustment.real("upper") > 0 else { return 0..<0 }
        let rows = Double(model.pages.count) / adjustment.real("upper")
        let (top, length) = (adjustment.real("value"), adjustment.real("page-size"))
        return Int(rows * top)..<Int((rows * (top + length)).rounded(.up))
    }

    /// The rows on the screen, and those that GTK holds above and below.
    ///
    /// GTK also holds the focused row, which may be anywhere.
    private var lookedAt: Range<Int> {
        let seen = seen
        guard !seen.isEmpty else { return seen }
        return max(0, seen.lowerBound - 100)..<min(model.pages.count, seen.upperBound + 100)
    }

    /// Fills empty rows whose downloads are loaded by now, from the middle of the screen outwards.
    ///
    /// - Parameter most: How many rows to fill.
    /// - Returns: Whether more rows can be filled.
    private func fill(_ most: Int) -> Bool {
        let seen = seen
        let middle = (seen.lowerBound + seen.upperBound) / 2
        let rows = held.filter { $0.view.id == nil && model.pages[$0.place] != nil }
            .sorted { abs($0.place - middle) < abs($1.place - middle) }
        for (item, place, _) in rows.prefix(most) {
            guard let row = gtk_list_item_get_item(item.opaque) else { continue }
            model.give(Object(row), place)
            bind(item)
        }
        return rows.count > most
    }

    /// The rows that GTK holds.
    private var held: [(item: Object, place: Int, view: RowView)] {
        views.compactMap { item, view in
            let place = gtk_list_item_get_position(item.opaque)
            return place == .max ? nil : (item, Int(place), view)
        }
    }

    /// Redraws the rows of these downloads.
    func redraw(_ ids: Set<String>) {
        for id in ids {
            guard let id = UInt64(id), let view = viewsByID[id] else { continue }
            show(id, in: view)
        }
    }

    /// Shows the phase, the counts and the length of the list.
    func update() {
        let page =
            switch feed.phase {
            case .loading: "loading"
            case .failed: "failed"
            case .loaded where model.pages.count > 0: "list"
            case .loaded where feed.counts.values.allSatisfy({ $0 == 0 }): "empty"
            case .loaded: "none"
            }
        if case .failed(let text) = feed.phase { failure.set("description", .text(text.escaped)) }
        gtk_stack_set_visible_child_name(stack.opaque, page)
        // A hidden spinner would go on turning and wake the program up.
        spinner.set("spinning", .flag(page == "loading"))
        banner.set("visible", .flag(feed.hasServiceLeft))
        titles.box.set("visible", .flag(page == "list"))
        chips.box.set("visible", .flag(page == "list" || page == "none"))
        chips.show(feed.counts, model.pages.look.filter)
    }

    /// Changes the filter, the search or the order.
    func change(_ body: (inout TaskPages.Look) -> Void) {
        var look = model.pages.look
        body(&look)
        guard look != model.pages.look else { return }
        feed.show(look)
        chips.show(feed.counts, look.filter)
        titles.show(look)
        lookChanged(look)
    }

    /// Hides the columns that do not fit into this many pixels.
    func fit(_ pixels: Int) {
        let width = RowView.Width(pixels: pixels)
        guard width != self.width else { return }
        self.width = width
        for view in views.values { view.fit(width) }
        titles.fit(width)
    }

    /// Puts the focus on the rows.
    func focus() { gtk_widget_grab_focus(list.widget) }

    // MARK: Keys and menu

    private func addMenu() {
        menu.named(translated("Menu"))
        menu.set("has-arrow", false)
        menu.set("halign", .choice(GTK_ALIGN_START))
        gtk_widget_set_parent(menu.widget, list.widget)
        let menu = menu
        list.on("destroy") { _ in gtk_widget_unparent(menu.widget) }
        let click = Object(gtk_gesture_click_new())
        click.set("button", .number(Int(GDK_BUTTON_SECONDARY)))
        click.on("pressed") { [weak self] arguments in
            self?.openMenu(x: arguments.real(2), y: arguments.real(3))
        }
        gtk_widget_add_controller(list.widget, click.opaque)
        let press = Object(gtk_gesture_long_press_new())
        press.set("touch-only", true)
        press.on("pressed") { [weak self] arguments in
            self?.openMenu(x: arguments.real(1), y: arguments.real(2))
        }
        gtk_widget_add_controller(list.widget, press.opaque)
        // In the capture phase, because rows take the space bar as "select".
        list.addKeys(
            GTK_PHASE_CAPTURE,
            [
                ("Delete", "win.remove"), ("<Shift>Delete", "win.trash"),
                ("<Control>c", "win.copy-link"), ("Menu", "win.menu"),
                ("<Shift>F10", "win.menu"), ("space", "win.toggle"),
                ("<Alt>Return", "win.details"),
            ]
        )
        let keys = Object(gtk_event_controller_key_new())
        keys.set("propagation-phase", .choice(GTK_PHASE_CAPTURE))
        keys.answer("key-pressed") { [weak self] in
            .flag(self?.take($0.number(1), $0.number(3)) ?? false)
        }
        // On the parent of the list, so that these keys come before the list's own.
        gtk_widget_add_controller(rows.widget, keys.opaque)
    }

    /// Handles a key before the list does.
    ///
    /// - Parameters:
    ///   - key: The number of the key.
    ///   - modifiers: The modifiers that are held with it.
    /// - Returns: Whether the list must not get the key.
    private func take(_ key: Int, _ modifiers: Int) -> Bool {
        let isShifted = UInt32(truncatingIfNeeded: modifiers) & GDK_SHIFT_MASK.rawValue != 0
        let isWithControl = UInt32(truncatingIfNeeded: modifiers) & GDK_CONTROL_MASK.rawValue != 0
        switch gint(key) {
        case GDK_KEY_Tab, GDK_KEY_ISO_Left_Tab:
            // GTK would walk through all rows.
            let isForward = gint(key) == GDK_KEY_Tab
            list.set("can-focus", false)
            gtk_widget_child_focus(
                Object(gtk_widget_get_root(list.widget)).widget,
                isForward ? GTK_DIR_TAB_FORWARD : GTK_DIR_TAB_BACKWARD
            )
            list.set("can-focus", true)
            return true
        // Ctrl+Space and Shift+Space select by themselves, and F10 alone opens the main menu.
        case GDK_KEY_space where isShifted || isWithControl: break
        case GDK_KEY_F10 where !isShifted: break
        case GDK_KEY_Delete, GDK_KEY_Menu, GDK_KEY_F10, GDK_KEY_space:
            // Without a selection the key applies to the focused row.
            if model.chosen.isEmpty, let id = focused { model.setChosen([id]) }
        default: break
        }
        return false
    }

    /// The download in the row that has the focus.
    private var focused: UInt64? {
        views.values.first { view in
            gtk_widget_get_parent(view.box.widget).map { gtk_widget_has_focus($0) != 0 } ?? false
        }?.id
    }

    private func openMenu(x: Double, y: Double) {
        guard let found = gtk_widget_pick(list.widget, x, y, GTK_PICK_DEFAULT) else { return }
        var widget: UnsafeMutablePointer<GtkWidget>? = found
        while let current = widget, current != list.widget {
            let view = views.values.first { gtk_widget_get_parent($0.box.widget) == current }
            if let id = view?.id {
                if !model.chosen.contains(id) { model.setChosen([id]) }
                return openMenu(at: GdkRectangle(x: gint(x), y: gint(y), width: 1, height: 1))
            }
            widget = gtk_widget_get_parent(current)
        }
    }

    /// Opens the menu of the selected downloads beside their first row.
    func openMenu() {
        guard let id = model.chosen.first(where: { viewsByID[$0] != nil }),
            let view = viewsByID[id]
        else { return }
        var bounds = graphene_rect_t()
        guard gtk_widget_compute_bounds(view.box.widget, list.widget, &bounds) != 0 else { return }
        openMenu(
            at: GdkRectangle(
                x: gint(bounds.origin.x) + 24,
                y: gint(bounds.origin.y) + gint(bounds.size.height),
                width: 1,
                height: 1
            )
        )
    }

    private func openMenu(at place: GdkRectangle) {
        let tasks = model.chosen.compactMap { model.pages["\($0)"] }
        guard !tasks.isEmpty else { return }
        let entries = Menu()
        let verbs = RowVerb.verbs(for: tasks)
        let states = Set(tasks.map(\.state))
        let groups: [[RowVerb]] = [
            [.open, .reveal], [.pause, .resume, .retry, .cancel], [.remove, .trash],
            [.copyLink, .freshLink, .verify], [.edit, .details],
        ]
        for group in groups {
            entries.section { section in
                for verb in group where verbs.contains(verb) {
                    section.item(verb.title(in: states), "win.\(verb.rawValue)")
                }
            }
        }
        gtk_popover_menu_set_menu_model(menu.opaque, entries.model.to())
        entries.model.drop()
        var place = place
        gtk_popover_set_pointing_to(menu.to(), &place)
        // GTK adds the lines between the sections in its next idle moment, which comes before this
        // one; in a menu that is open by then, they push the last entries out of sight.
        g_idle_add(
            { menu in
                gtk_popover_popup(menu?.assumingMemoryBound(to: GtkPopover.self))
                return 0
            },
            menu.raw
        )
    }
}

/// The chips above the list, each with the number of its downloads.
private final class FilterChips {
    let box: Object
    var chosen: (TaskList.Filter) -> Void = { _ in }
    private var buttons: [(filter: TaskList.Filter, button: Object)] = []
    private var isShowing = false

    init() {
        let states: [TaskProperties.State] = [
            .downloading, .waiting, .paused, .completed, .failed, .cancelled,
        ]
        let row = Object.box(spacing: 6, margin: 6, [])
        row.set("halign", .choice(GTK_ALIGN_CENTER))
        box = .scrolled(row, isWide: true)
        for filter in [.all] + states.map({ TaskList.Filter.only($0) }) {
            let button = Object(gtk_toggle_button_get_type()).adding(["chip", "flat"])
            if let first = buttons.first {
                gtk_toggle_button_set_group(button.to(), first.button.to())
            }
            button.on("toggled") { [weak self] _ in
                guard let self, !self.isShowing, button.flag("active") else { return }
                self.chosen(filter)
            }
            gtk_box_append(row.to(), button.widget)
            buttons.append((filter, button))
        }
    }

    func show(_ counts: [TaskProperties.State: Int], _ current: TaskList.Filter) {
        isShowing = true
        defer { isShowing = false }
        for (filter, button) in buttons {
            let count =
                filter.states.isEmpty
                ? counts.values.reduce(0, +)
                : filter.states.reduce(0) { $0 + (counts[$1] ?? 0) }
            button.set("label", .text("\(filter.title) \(shown(UInt(count)))"))
            // The chips for rare states are hidden while they would show nothing, unless one is in
            // use.
            let isRare = filter == .only(.cancelled) || filter == .only(.failed)
            button.set("visible", .flag(!isRare || count > 0 || filter == current))
            if filter == current, !button.flag("active") { button.set("active", true) }
        }
    }
}

/// The titles of the columns; a click on one sorts by its column.
private final class SortTitles {
    let box: Object
    var chosen: (TaskQuery.Sort) -> Void = { _ in }
    private let buttons: [TaskQuery.Sort: Object]

    init() {
        func title(_ characters: Int, isRight: Bool = false) -> Object {
            Object(
                gtk_button_get_type(),
                [
                    "child": .object(
                        .cell(characters: characters, isRight: isRight, classes: ["dim-label"])
                    )
                ]
            ).adding(["flat", "column"])
        }
        let name = title(5)
        name.set("hexpand", true)
        // As wide as the progress bars, in any language.
        let progress = title(1)
        progress.set("width-request", 120)
        let size = title(RowView.bytesWidth, isRight: true)
        let state = title(RowView.stateWidth, isRight: true)
        let source = title(18)
        let timeLeft = title(RowView.leftWidth, isRight: true)
        box = .box(
            spacing: 12,
            [name, source, .box(spacing: 12, [progress, size, state, timeLeft])]
        )
        .adding(["titles"])
        buttons = [
            .name: name, .host: source, .progress: progress, .size: size, .state: state,
            .timeLeft: timeLeft,
        ]
        for (sort, button) in buttons {
            button.on("clicked") { [weak self] _ in self?.chosen(sort) }
        }
        show(TaskPages.Look())
    }

    func show(_ look: TaskPages.Look) {
        for (sort, button) in buttons {
            let sign = look.sort == sort ? look.isDescending ? " ↓" : " ↑" : ""
            guard let label = gtk_button_get_child(button.to()) else { continue }
            Object(label).set("text", .text(sort.title + sign))
            button.named(translated("Sort by {property}", ["property": sort.title]))
        }
    }

    func fit(_ width: RowView.Width) {
        for sort in [TaskQuery.Sort.host, .timeLeft] {
            buttons[sort]?.set("visible", .flag(width == .wide))
        }
        buttons[.size]?.set("visible", .flag(width >= .middle))
        buttons[.progress]?.set("width-request", .number(width.barPixels))
    }
}

extension TaskList.Filter {
    var title: String {
        if case .only(let state) = self { state.title } else { translated("All") }
    }
}

extension TaskQuery.Sort {
    var title: String {
        switch self {
        case .added: translated("Added")
        case .name: translated("Name")
        case .size: translated("Size")
        case .state: translated("State")
        case .progress: translated("Progress")
        case .priority: translated("Priority")
        case .host: translated("Source")
        case .timeLeft: translated("Time Left")
        }
    }
}
