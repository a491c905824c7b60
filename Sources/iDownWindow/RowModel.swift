// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownView

/// The list's rows for GTK: a `GListModel` that makes items on demand, and a `GtkSelectionModel`.
///
/// The selection holds ids instead of places, so that it stays right when rows move.
///
/// The program has one list, which the C functions find through a static variable.
final class RowModel {
    /// The row of one download.
    ///
    /// GLib allocates and frees it, so it must hold no Swift references.
    private struct Row {
        var parent: GObject
        /// The id of the download; 0 for a row that is not loaded.
        var id: UInt64
    }

    static let shared = RowModel()

    private(set) var pages = TaskPages()
    /// The number of rows that GTK was told.
    private(set) var count = 0
    /// The selected downloads.
    private(set) var chosen: Set<UInt64> = []
    /// The number of changes of the selection; an answer to an earlier one is ignored.
    private(set) var choices = 0
    /// The downloads that have left since ids were asked for; nil if nothing is asked for.
    private(set) var left: Set<UInt64>?
    /// The items of loaded rows by id, so that a row that moves keeps its item.
    private var items: [UInt64: Object] = [:]
    /// The places of rows that GTK has asked for and that are not loaded.
    private var missing: Set<Int> = []
    private var isAskingSoon = false
    private var isFilling = false

    /// Asks the service for rows.
    var ask: ([TaskPages.Question]) -> Void = { _ in }
    /// Returns the rows that GTK holds, each with the id of its download; nil for an empty row.
    var held: () -> [(place: Int, id: UInt64?)] = { [] }
    /// Fills empty rows, at most this many, and returns whether more can be filled.
    var fill: (Int) -> Bool = { _ in false }
    /// Called before rows are added.
    var grows: () -> Void = {}
    /// Called when the selection has changed.
    var selectionChanged: () -> Void = {}
    /// Called with the places of rows to select whose ids are not loaded.
    var askForIDs: (Range<Int>) -> Void = { _ in }

    private(set) lazy var object = Object(Self.type).keep()

    private init() {}

    /// Returns the id of an item's download; nil for an empty row.
    static func id(of item: Object) -> UInt64? {
        let id = item.to(Row.self).pointee.id
        return id == 0 ? nil : id
    }

    private static let rowType: GType = {
        var info = GTypeInfo()
        info.class_size = guint16(MemoryLayout<GObjectClass>.size)
        info.instance_size = guint16(MemoryLayout<Row>.size)
        return g_type_register_static(
            CGTK_TYPE_OBJECT,
            "IdownRow",
            &info,
            GTypeFlags(rawValue: 0)
        )
    }()

    private static let type: GType = {
        var info = GTypeInfo()
        info.class_size = guint16(MemoryLayout<GObjectClass>.size)
        info.instance_size = guint16(MemoryLayout<GObject>.size)
        let type = g_type_register_static(
            CGTK_TYPE_OBJECT,
            "IdownRows",
            &info,
            GTypeFlags(rawValue: 0)
        )
        var list = GInterfaceInfo()
        list.interface_init = { table, _ in
            guard let table = table?.assumingMemoryBound(to: GListModelInterface.self) else {
                return
            }
            table.pointee.get_item_type = { _ in RowModel.rowType }
            table.pointee.get_n_items = { _ in guint(RowModel.shared.count) }
            table.pointee.get_item = { _, place in RowModel.shared.item(at: Int(place))?.raw }
        }
        g_type_add_interface_static(type, g_list_model_get_type(), &list)
        var selection = GInterfaceInfo()
        selection.interface_init = { table, _ in
            guard let table = table?.assumingMemoryBound(to: GtkSelectionModelInterface.self) else {
                return
            }
            table.pointee.is_selected = { _, place in
                RowModel.shared.isChosen(Int(place)) ? 1 : 0
            }
            table.pointee.get_selection_in_range = { _, first, count in
                let set = gtk_bitset_new_empty()
                for place in Int(first)..<(Int(first) + Int(count))
                where RowModel.shared.isChosen(place) { gtk_bitset_add(set, guint(place)) }
                return set
            }
            table.pointee.select_item = { _, place, isAlone in
                RowModel.shared.choose(Int(place)..<(Int(place) + 1), isAlone: isAlone != 0)
                return 1
            }
            table.pointee.unselect_item = { _, place in
                RowModel.shared.unchoose(Int(place)..<(Int(place) + 1))
                return 1
            }
            table.pointee.select_range = { _, first, count, isAlone in
                RowModel.shared.choose(Int(first)..<(Int(first + count)), isAlone: isAlone != 0)
                return 1
            }
            table.pointee.unselect_range = { _, first, count in
                RowModel.shared.unchoose(Int(first)..<(Int(first + count)))
                return 1
            }
            table.pointee.select_all = { _ in
                RowModel.shared.choose(0..<RowModel.shared.count, isAlone: false)
                return 1
            }
            table.pointee.unselect_all = { _ in
                RowModel.shared.setChosen([])
                return 1
            }
            table.pointee.set_selection = { _, selected, mask in
                RowModel.shared.setSelection(selected, mask)
                return 1
            }
        }
        g_type_add_interface_static(type, gtk_selection_model_get_type(), &selection)
        return type
    }()

    // MARK: Items

    /// Returns an item that the caller owns.
    private func item(at place: Int) -> Object? {
        guard place < count else { return nil }
        guard let task = pages[place], let id = UInt64(task.id) else {
            missing.insert(place)
            askSoon()
            return Object(Self.rowType)
        }
        pages.use(place)
        let item =
            items[id]
            ?? {
                let item = Object(Self.rowType)
                item.to(Row.self).pointee.id = id
                items[id] = item
                return item
            }()
        return Object(g_object_ref(item.raw))
    }

    /// Asks for the missing rows in the next turn of the main loop, after GTK has asked for all of
    /// them.
    private func askSoon() {
        guard !isAskingSoon else { return }
        isAskingSoon = true
        Task {
            isAskingSoon = false
            let questions = pages.questions(for: missing)
            missing = []
            if !questions.isEmpty { ask(questions) }
        }
    }

    // MARK: Answers

    /// Takes a page of rows from the service.
    ///
    /// - Returns: The ids of the downloads to redraw, and whether the list must be loaded again.
    func take(
        _ tasks: [TaskProperties],
        total: Int,
        for question: TaskPages.Question
    ) -> (changed: [String], isOld: Bool) {
        let before = pages.shownLook
        let result = pages.take(tasks, total: total, for: question)
        forgetItems()
        if let splice = result.splice { replace(splice, isOtherLook: before != pages.shownLook) }
        if let before, let now = pages.shownLook,
            (before.filter, before.search) != (now.filter, now.search)
        {
            // The selected rows may be out of sight now.
            setChosen([])
        }
        settle()
        fillSoon()
        return (result.changed, result.isOld)
    }

    /// Asks for the rows that GTK holds and that are not loaded, and replaces rows that show a
    /// download that has moved.
    ///
    /// GTK also holds the focused row, which may be anywhere, and rows of dropped pages.
    private func settle() {
        let held = held()
        missing.formUnion(held.lazy.map(\.place).filter { self.pages[$0] == nil })
        askSoon()
        for (place, id) in held {
            guard let id, let task = pages[place], task.id != "\(id)" else { continue }
            change(TaskPages.Splice(position: place, removed: 1, added: 1))
        }
    }

    /// The number of items above which those of dropped rows are released.
    ///
    /// It is twice the number of rows that are loaded at most, so that the search for them is rare.
    private static let mostItems = 2 * TaskPages.mostRows

    private func forgetItems() {
        guard items.count > Self.mostItems else { return }
        let known = Set(pages.known.compactMap { UInt64($0) })
        for (id, item) in items where !known.contains(id) {
            items[id] = nil
            item.drop()
        }
    }

    /// The most rows that are filled in one turn of the main loop, so that frames are drawn in
    /// between.
    private static let piece = 8

    /// Fills empty rows, a few in each turn of the main loop.
    private func fillSoon() {
        guard !isFilling else { return }
        isFilling = true
        g_idle_add(
            { _ in
                RowModel.shared.isFilling = RowModel.shared.fill(RowModel.piece)
                return RowModel.shared.isFilling ? 1 : 0
            },
            nil
        )
    }

    /// Assigns the download at a place to the item of an empty row.
    func give(_ item: Object, _ place: Int) {
        guard let id = pages[place].flatMap({ UInt64($0.id) }) else { return }
        item.to(Row.self).pointee.id = id
        if items[id] == nil {
            items[id] = item
            g_object_ref(item.raw)
        }
        if chosen.contains(id) {
            gtk_selection_model_selection_changed(object.opaque, guint(place), 1)
        }
    }

    private func replace(_ rows: TaskPages.Splice, isOtherLook: Bool) {
        guard isOtherLook else { return change(rows) }
        // Two steps: in one, GTK would look for its rows among all new ones and ask for each.
        change(TaskPages.Splice(position: 0, removed: rows.removed, added: 0))
        change(TaskPages.Splice(position: 0, removed: 0, added: rows.added))
    }

    private func change(_ rows: TaskPages.Splice) {
        if rows.added > rows.removed { grows() }
        count += rows.added - rows.removed
        g_list_model_items_changed(
            object.opaque,
            guint(rows.position),
            guint(rows.removed),
            guint(rows.added)
        )
    }

    /// Takes note that a question failed, so that its rows can be asked for again.
    func forget(_ question: TaskPages.Question) { pages.forget(question) }

    func apply(_ news: ListNews) -> TaskPages.Effect {
        let filter = pages.look.filter
        switch news {
        case .removed(let ids): leave(ids)
        case .changed(let ids, let state, _) where !filter.takes(state): leave(ids)
        default: break
        }
        return pages.apply(news)
    }

    /// Deselects downloads that leave the rows, because they are no longer visible.
    private func leave(_ ids: [String]) {
        let ids = Set(ids.lazy.compactMap { UInt64($0) })
        left?.formUnion(ids)
        if !chosen.isDisjoint(with: ids) { choose(chosen.subtracting(ids)) }
    }

    func show(_ look: TaskPages.Look) { pages.show(look) }

    func reloadQuestion(for rows: Range<Int>) -> TaskPages.Question {
        pages.reloadQuestion(for: rows)
    }

    // MARK: Selection

    private func isChosen(_ place: Int) -> Bool {
        pages[place].flatMap { UInt64($0.id) }.map(chosen.contains) ?? false
    }

    private func ids(_ places: Range<Int>) -> [UInt64] {
        let known = places.compactMap { pages[$0].flatMap { UInt64($0.id) } }
        guard known.count < places.count else { return known }
        // For a row whose page was dropped, the download that it still shows counts.
        return known
            + held().compactMap { place, id in
                places.contains(place) && pages[place] == nil ? id : nil
            }
    }

    private func choose(_ places: Range<Int>, isAlone: Bool) {
        let places = places.clamped(to: 0..<count)
        let ids = ids(places)
        setChosen(isAlone ? Set(ids) : chosen.union(ids))
        guard ids.count < places.count else { return }
        left = []
        askForIDs(places)
    }

    private func unchoose(_ places: Range<Int>) { setChosen(chosen.subtracting(ids(places))) }

    private func setSelection(_ selected: OpaquePointer?, _ mask: OpaquePointer?) {
        // A mask of all rows also replaces the selection of rows that are not loaded.
        var chosen = gtk_bitset_get_size(mask) < count ? chosen : []
        for place in 0..<gtk_bitset_get_size(mask) {
            let row = gtk_bitset_get_nth(mask, guint(place))
            guard let id = pages[Int(row)].flatMap({ UInt64($0.id) }) else { continue }
            if gtk_bitset_contains(selected, row) != 0 {
                chosen.insert(id)
            } else {
                chosen.remove(id)
            }
        }
        setChosen(chosen)
    }

    /// Selects exactly these downloads.
    func setChosen(_ ids: Set<UInt64>) {
        choices += 1
        left = nil
        if ids != chosen { choose(ids) }
    }

    private func choose(_ ids: Set<UInt64>) {
        chosen = ids
        if count > 0 {
            gtk_selection_model_selection_changed(object.opaque, 0, guint(count))
        }
        selectionChanged()
    }
}
