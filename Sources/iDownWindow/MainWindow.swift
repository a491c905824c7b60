// SPDX-License-Identifier: Apache-2.0

import CGtk
import DBus
import iDownBus
import iDownView

/// The window: the list, its actions, and the details of one download beside it.
///
/// All data belongs to the service: closing the window stops no download.
final class MainWindow {
    let object: Object
    private let application: Object
    let client: ManagerClient
    private let announcer: Announcer
    private let feed: ListFeed
    /// Whether a dialog waits for the service before it opens.
    private var isOpening = false
    private let pane: ListPane
    private let details: DetailsPane
    let tasks: TaskActions
    private let model = RowModel.shared
    private let actions: Actions
    private let search = Object(gtk_search_entry_get_type(), ["hexpand": true])
    private let searchBar = Object(gtk_search_bar_get_type())
    private let flap = Object(
        adw_flap_get_type(),
        // Locked, so that the pane does not close when the rows need more room.
        [
            "flap-position": .choice(GTK_PACK_END), "reveal-flap": false,
            "fold-policy": .choice(ADW_FLAP_FOLD_POLICY_AUTO), "locked": true,
            "separator": .object(nil),
        ]
    )
    private let selectionBar = Object(gtk_action_bar_get_type(), ["revealed": false])
    private let selectionLabel = Object.line()
    private let removeButton = Object.iconButton(
        ListVerb.remove.icon,
        ListVerb.remove.title(),
        action: "win.remove"
    )
    private let title = Object(adw_window_title_get_type(), ["title": "idown"])
    private let arrivals: Arrivals
    /// The width of the window.
    private var width: Int
    private var areDetailsShown = false
    private var hasAppeared = false
    /// Whether the program ends once the pending actions are carried out.
    private(set) var isClosing = false
    /// The buttons of actions that the menu has as well; hidden in a narrow window.
    private var wideButtons: [Object] = []
    private var sortAction: Object?
    private var descendingAction: Object?

    init(_ application: Object, _ connection: Connection) {
        self.application = application
        client = ManagerClient(connection)
        let state = WindowState()
        width = state.width
        object = Object(
            adw_application_window_get_type(),
            [
                "application": .object(application), "title": "idown",
                "default-width": .number(state.width),
                "default-height": .number(state.height),
                "maximized": .flag(state.isMaximized), "width-request": 360,
                "height-request": 300,
            ]
        )
        let messages = Messages()
        announcer = Announcer(client)
        let pulse = Pulse(connection)
        feed = ListFeed(client, announcer, pulse)
        pane = ListPane(feed)
        tasks = TaskActions(client, connection, messages, announcer, pulse)
        details = DetailsPane(client, tasks)
        arrivals = Arrivals(object, tasks)
        actions = Actions(map: object)
        build(messages.overlay)
        connectParts()
        handleSignals()
        addActions()
        object.nameParts()
        pane.update()
        selectionChanged()
        pane.change { ($0.sort, $0.isDescending) = (state.sort, state.isDescending) }
        if state.areDetailsShown { showDetails(true) }
        feed.start()
    }

    private static let longestWait: Duration = .milliseconds(200)
    /// How long the program waits for the service after its window has closed.
    private static let longestEnd: Duration = .seconds(5)
    /// Below this width the header bar has no room for all buttons.
    private static let narrowWidth = 480

    /// Shows the window as soon as the list is loaded, so that its first frame is complete.
    ///
    /// After ``longestWait`` it shows the window in any case, with the list still loading.
    func appear() {
        Task { [weak self] in
            try? await Task.sleep(for: Self.longestWait)
            self?.presentFirst()
        }
    }

    private func presentFirst() {
        guard !hasAppeared else { return }
        present()
    }

    /// Shows the window, in front of others.
    func present() {
        hasAppeared = true
        gtk_window_present(object.to())
        // Focuses the rows, because the blinking cursor of a text field would wake the program up.
        pane.focus()
    }

    private func build(_ overlay: Object) {
        let header = Object(adw_header_bar_get_type(), ["title-widget": .object(title)])
        let add = Object.iconButton(
            "list-add-symbolic",
            translated("Add a Download"),
            action: "win.add"
        )
        let find = Object(
            gtk_toggle_button_get_type(),
            ["icon-name": "system-search-symbolic", "tooltip-text": .text(translated("Search"))]
        ).named(translated("Search"))
        g_object_bind_property(
            find.raw,
            "active",
            searchBar.raw,
            "search-mode-enabled",
            GBindingFlags(rawValue: G_BINDING_BIDIRECTIONAL.rawValue)
        )
        let start = Object.iconButton(
            "media-playback-start-symbolic",
            translated("Start All"),
            action: "win.start-all"
        )
        let pause = Object.iconButton(
            "media-playback-pause-symbolic",
            translated("Pause All"),
            action: "win.pause-all"
        )
        for button in [add, find] { adw_header_bar_pack_start(header.opaque, button.widget) }
        let menu = Object.menuButton("open-menu-symbolic", translated("Main Menu"), Self.menu())
        wideButtons = [start, pause]
        for button in [menu, pause, start] {
            adw_header_bar_pack_end(header.opaque, button.widget)
        }
        search.named(translated("Search in names and links"))
        search.set("placeholder-text", .text(translated("Search in names and links")))
        searchBar.set("child", .object(search))
        gtk_search_bar_connect_entry(searchBar.opaque, search.opaque)
        buildSelectionBar()
        flap.set("content", .object(pane.box))
        flap.set("flap", .object(details.box))
        let line = Object(
            gtk_separator_get_type(),
            ["orientation": .choice(GTK_ORIENTATION_VERTICAL)]
        )
        flap.set("separator", .object(line))
        overlay.set("child", .object(.box(vertical: true, spacing: 0, [header, searchBar, flap])))
        // Below the overlay, so that no message covers the buttons.
        let content = Object.box(vertical: true, spacing: 0, [overlay, selectionBar])
        adw_application_window_set_content(object.to(), content.widget)
        gtk_widget_set_vexpand(flap.widget, 1)
    }

    private func buildSelectionBar() {
        gtk_action_bar_pack_start(selectionBar.opaque, selectionLabel.widget)
        for verb in [ListVerb.trash, .remove, .cancel, .pause, .resume] {
            let button =
                verb == .remove
                ? removeButton
                : .iconButton(verb.icon, verb.title(), action: "win.\(verb.rawValue)")
            gtk_action_bar_pack_end(selectionBar.opaque, button.widget)
        }
    }

    private static func menu() -> Object {
        Menu()
            .section { section in
                section.submenu(translated("Sort By")) { menu in
                    for sort in TaskQuery.Sort.allCases {
                        menu.item(sort.title, "win.sort::\(sort.rawValue)")
                    }
                    menu.section { $0.item(translated("Reversed"), "win.descending") }
                }
                section.item(translated("Start All"), "win.start-all")
                section.item(translated("Pause All"), "win.pause-all")
                section.item(translated("Clear Completed"), "win.clear")
                section.item(translated("Show Details"), "win.details")
            }
            .section { section in
                section.item(translated("Downloads From Browsers…"), "win.browsers")
                section.item(translated("Preferences"), "app.preferences")
                section.item(translated("Keyboard Shortcuts"), "app.shortcuts")
                section.item(translated("About idown"), "app.about")
            }.model
    }

    /// Connects the parts of the window with one another.
    private func connectParts() {
        feed.listChanged = { [weak self] in self?.listChanged() }
        feed.rowsChanged = { [weak self] ids in
            self?.pane.redraw(ids)
            self?.details.renew(ids)
        }
        tasks.pulse.answered = { [weak self] in
            self?.feed.recover()
            self?.details.renew()
        }
        feed.say = { [weak self] in self?.tasks.say($0) }
        feed.orderRefused = { [weak self] in self?.pane.change { $0.sort = .added } }
        announcer.window = { [weak self] in self?.object }
        model.selectionChanged = { [weak self] in self?.selectionChanged() }
        tasks.window = { [weak self] in self?.object }
        tasks.notesChanged = { [weak self] ids in self?.feed.mark(ids.map(String.init)) }
        pane.note = { [weak self] in self?.tasks.note($0) }
        pane.carryOut = { [weak self] verb, id in self?.carryOut(verb, ["\(id)"]) }
        pane.lookChanged = { [weak self] look in
            self?.sortAction?.setState(choice: look.sort.rawValue)
            self?.descendingAction?.setState(isOn: look.isDescending)
        }
        details.samples = { [weak self] in self?.feed.speeds[$0] }
        details.carryOut = { [weak self] verb, id in self?.carryOut(verb, [id]) }
        arrivals.add = { [weak self] in self?.openAddDialog($0) }
    }

    /// Handles the keys and the signals of the window's widgets.
    private func handleSignals() {
        // In the bubble phase: a focused text field takes these keys for its own text first.
        object.addKeys(
            GTK_PHASE_BUBBLE,
            [("<Control>v", "win.paste"), ("<Control>z", "win.undo")]
        )
        // GTK also opens and closes the pane by itself, after a click beside it or to move the
        // focus.
        flap.onChange(of: "reveal-flap") { [weak self] in
            guard let self, self.flap.flag("reveal-flap") != self.areDetailsShown else { return }
            self.showDetails(!self.areDetailsShown)
        }
        search.on("search-changed") { [weak self] _ in
            guard let self else { return }
            let text = self.search.text("text")
            self.pane.change { $0.search = text }
        }
        object.onChange(of: "is-active") { [weak self] in
            guard let self, self.object.flag("is-active") else { return }
            self.arrivals.lookAtClipboard()
        }
        object.on("realize") { [weak self] _ in
            guard let self, let surface = gtk_native_get_surface(self.object.opaque) else { return }
            Object(surface).on("layout") { [weak self] in
                guard let self else { return }
                self.width = $0.number(1)
                self.fit()
                // The pane of a narrow window covers the whole list: without a download it closes.
                let isEmpty = self.areDetailsShown && self.model.chosen.isEmpty
                if isEmpty && self.width < Self.narrowWidth { self.showDetails(false) }
            }
        }
        object.answer("close-request") { [weak self] _ in
            self?.close()
            return true
        }
    }

    /// Carries out the pending actions, then ends the program, even if the bus has started it.
    ///
    /// Until then the window is only hidden, because answers of the service still change its widgets.
    private func close() {
        guard !isClosing else { return }
        isClosing = true
        g_application_hold(application.to())
        var state = WindowState()
        state.width = object.number("default-width")
        state.height = object.number("default-height")
        (state.isMaximized, state.areDetailsShown) = (object.flag("maximized"), areDetailsShown)
        (state.sort, state.isDescending) = (model.pages.look.sort, model.pages.look.isDescending)
        state.save()
        gtk_widget_set_visible(object.widget, 0)
        let (tasks, application) = (tasks, application)
        Task {
            await tasks.carryOutPending()
            g_application_quit(application.to())
        }
        // The service has received the call by then, and finishes it without this program.
        Task {
            try? await Task.sleep(for: Self.longestEnd)
            g_application_quit(application.to())
        }
    }

    private func listChanged() {
        pane.update()
        if feed.phase != .loading { presentFirst() }
        details.renew()
        let running = feed.counts[.downloading] ?? 0
        let text =
            running > 0
            ? counted("{count} download is running", "{count} downloads are running", UInt(running))
            : ""
        title.set("subtitle", .text(text))
        actions.enable("clear", feed.counts[.completed] ?? 0 > 0)
        let stopped = (feed.counts[.paused] ?? 0) + (feed.counts[.failed] ?? 0)
        actions.enable("start-all", stopped > 0)
        let active = (feed.counts[.waiting] ?? 0) + (feed.counts[.downloading] ?? 0)
        actions.enable("pause-all", active > 0)
        selectionChanged()
    }

    private func selectionChanged() {
        let chosen = model.chosen
        let known = chosen.compactMap { model.pages["\($0)"] }
        var verbs = RowVerb.verbs(for: known)
        // The bar has one button for Resume and Retry.
        if known.contains(where: { $0.state == .failed }) { verbs.insert(.resume) }
        for verb in RowVerb.allCases where verb != .details {
            // Selected rows that are not loaded may allow any verb.
            let fits = known.count < chosen.count || verbs.contains(verb)
            let isForOne = [.verify, .freshLink, .edit].contains(verb)
            actions.enable(
                verb.rawValue,
                !chosen.isEmpty && fits && (!isForOne || chosen.count == 1)
            )
        }
        // Among rows that were scrolled away may be unfinished downloads.
        let states = Set(known.map(\.state)).union(known.count < chosen.count ? [.paused] : [])
        let removal = ListVerb.remove.title(in: states)
        removeButton.named(removal).set("tooltip-text", .text(removal))
        selectionBar.set("revealed", .flag(chosen.count > 1))
        selectionLabel.set(
            "label",
            .text(counted("{count} selected", "{count} selected", UInt(chosen.count)))
        )
        details.show(chosen.count == 1 ? chosen.first.map { "\($0)" } : nil, of: chosen.count)
    }
}

// Actions.
extension MainWindow {
    private func addActions() {
        actions.add("add") { [weak self] in self?.openAddDialog("") }
        actions.add("browsers") { [weak self] in
            if let self { BrowsersDialog(over: self.object).present() }
        }
        actions.add("search") { [weak self] in
            guard let self else { return }
            self.searchBar.set("search-mode-enabled", true)
            gtk_widget_grab_focus(self.search.widget)
        }
        actions.add("start-service") { [weak self] in self?.startService() }
        actions.add("start-all") { [weak self] in self?.tasks.startAll() }
        actions.add("pause-all") { [weak self] in self?.tasks.pauseAll() }
        actions.add("clear") { [weak self] in self?.tasks.clear() }
        actions.add("paste") { [weak self] in self?.arrivals.paste() }
        actions.add("undo") { [weak self] in self?.tasks.undo() }
        actions.add("menu") { [weak self] in self?.pane.openMenu() }
        actions.add("toggle") { [weak self] in
            guard let self, let id = self.model.chosen.first, self.model.chosen.count == 1,
                let task = self.model.pages["\(id)"], let verb = ListVerb.toggle(of: task.state)
            else { return }
            self.tasks.carryOut(verb, ["\(id)"])
        }
        sortAction = actions.add("sort", choice: TaskQuery.Sort.added.rawValue) { [weak self] in
            guard let sort = TaskQuery.Sort(rawValue: $0) else { return }
            self?.pane.change { $0.sort = sort }
        }
        descendingAction = actions.add("descending", isOn: true) { [weak self] isOn in
            self?.pane.change { $0.isDescending = isOn }
        }
        for verb in RowVerb.allCases {
            actions.add(verb.rawValue) { [weak self] in
                guard let self else { return }
                self.carryOut(verb, self.model.chosen.sorted().map(String.init))
            }
        }
    }

    /// Starts the service after its end: without systemd, nothing else does.
    private func startService() {
        let client = client
        tasks.call { () throws(ManagerError) in _ = try await client.version() }
    }

    private func carryOut(_ verb: RowVerb, _ ids: [String]) {
        if let verb = verb.verb { return tasks.carryOut(verb, ids) }
        switch verb {
        case .details:
            let isOther = ids.count == 1 && ids.first != details.id
            if isOther { model.setChosen(Set(ids.compactMap { UInt64($0) })) }
            showDetails(isOther || !areDetailsShown)
        case .copyLink: copyLinks(of: ids)
        case .verify: if let id = ids.first { tasks.verify(id) }
        case .edit: if let id = ids.first { openEditDialog(id, isForLink: false) }
        case .freshLink: if let id = ids.first { openEditDialog(id, isForLink: true) }
        default: break
        }
    }

    private func showDetails(_ isShown: Bool) {
        // The rows shrink first, so that the pane has room beside them.
        areDetailsShown = isShown
        fit()
        // Hidden, so that the closed pane cannot take the focus: GTK would open it.
        details.box.set("visible", .flag(isShown))
        flap.set("reveal-flap", .flag(isShown))
        details.setOpen(isShown)
    }

    private func fit() {
        pane.fit(usual(width - (areDetailsShown ? DetailsPane.width : 0)))
        let isWide = usual(width) >= Self.narrowWidth
        for button in wideButtons { button.set("visible", .flag(isWide)) }
    }

    /// Returns the width in pixels that holds as many characters of the usual size.
    private func usual(_ width: Int) -> Int {
        guard let settings = gtk_widget_get_settings(object.widget) else { return width }
        // In 1/1024 of a dot per inch; -1 for the usual 96.
        let resolution = Object(settings).number("gtk-xft-dpi")
        return width * (96 << 10) / max(96 << 10, resolution)
    }

    private func copyLinks(of ids: [String]) {
        let client = client
        Task {
            do throws(ManagerError) {
                // The URLs of loaded rows may lack the query.
                let found = try await client.getTasks(ids, of: [.url])
                let text = found.map(\.url).joined(separator: "\n")
                gdk_clipboard_set_text(gtk_widget_get_clipboard(object.widget), text)
                arrivals.know(text)
                tasks.say(counted("Link copied", "{count} links copied", UInt(found.count)))
            } catch { tasks.say(error.text) }
        }
    }

    func openAddDialog(_ text: String) {
        AddDialog(client, tasks, over: object, text: text).present()
    }

    private func openEditDialog(_ id: String, isForLink: Bool) {
        let (client, tasks, window) = (client, tasks, object)
        open { () throws(ManagerError) in
            let task = try await client.getTask(id)
            EditDialog(client, tasks, task, over: window, isForLink: isForLink).present()
        }
    }

    /// Opens a dialog that asks the service first, unless another one is about to open.
    func open(_ dialog: @escaping () async throws(ManagerError) -> Void) {
        guard !isOpening else { return }
        isOpening = true
        tasks.call { () throws(ManagerError) in
            defer { self.isOpening = false }
            try await dialog()
        }
    }
}

extension ListVerb {
    fileprivate var icon: String {
        switch self {
        case .pause: "media-playback-pause-symbolic"
        case .resume, .retry: "media-playback-start-symbolic"
        case .cancel: "process-stop-symbolic"
        case .remove: "list-remove-symbolic"
        case .trash: "user-trash-symbolic"
        case .open: "document-open-symbolic"
        case .reveal: "folder-open-symbolic"
        }
    }
}
