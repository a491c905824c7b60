// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownView

/// The list's rows for GTK: a `GListModel` whose items are made as they are looked at, and a
/// `GtkSelectionModel` that remembers downloads, not places, so that the selection stays right when
/// rows move.
///
/// There is one list in this program, so that C's functions find it by a static variable.
final class RowModel {
    /// The row of one download.
    ///
    /// GLib makes and frees it, so it holds nothing of Swift's.
    private struct Row {
        var parent: GObject
        /// The id of the download; 0 for a row whose page is still to come.
        var id: UInt64
    }

    static let shared = RowModel()

    private(set) var pages = TaskPages()
    /// How many rows GTK was told of.
    private var count = 0
    /// The selected downloads.
    private(set) var chosen: Set<UInt64> = []
    /// How often the user has selected something: an answer that comes late is about another choice.
    private(set) var choices = 0
    /// The items of known rows, so that GTK finds the same item in another place.
    private var items: [UInt64: Object] = [:]
    /// The rows that GTK has asked for and that are not known.
    private var missing: Set<Int> = []
    private var isAskingSoon = false
    private var isFilling = false

    /// Asks the service for rows.
    var ask: ([TaskPages.Question]) -> Void = { _ in }
    /// The rows that GTK holds, each with the download that it shows; nil for one still to come.
    var held: () -> [(place: Int, id: UInt64?)] = { [] }
    /// Shows downloads in rows that were still to come, in so many at most, and tells whether there
    /// are more.
    var fill: (Int) -> Bool = { _ in false }
    /// The selection has changed.
    var selectionChanged: () -> Void = {}
    /// Rows of these places are to be selected, but are not known.
    var askForIDs: (Range<Int>) -> Void = { _ in }

    private(set) lazy var object = Object(Self.type).keep()

    private init() {}

    /// The id of an item; nil for a row that is still to come.
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

    /// Asks when GTK has told all that it needs.
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

    /// Takes rows.
    ///
    /// - Returns: The downloads that look different, and whether to ask for everything anew.
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
            // Nobody sees what was selected before.
            setChosen([])
        }
        settle()
        fillSoon()
        return (result.changed, result.isOld)
    }

    /// Asks for the rows that GTK holds and that are not known, and replaces those that show another
    /// download than the one in their place.
    ///
    /// GTK holds the focused row, too, wherever it is, and rows of pages that were forgotten.
    private func settle() {
        let held = held()
        missing.formUnion(held.lazy.map(\.place).filter { self.pages[$0] == nil })
        askSoon()
        for (place, id) in held {
            guard let id, let task = pages[place], task.id != "\(id)" else { continue }
            change(TaskPages.Splice(position: place, removed: 1, added: 1))
        }
    }

    /// The most items that are kept: twice as many as rows are known at once, so that the unknown
    /// ones are seldom looked for.
    private static let mostItems = 2 * TaskPages.mostRows

    private func forgetItems() {
        guard items.count > Self.mostItems else { return }
        let known = Set(pages.known.compactMap { UInt64($0) })
        for (id, item) in items where !known.contains(id) {
            items[id] = nil
            item.drop()
        }
    }

    /// The most rows that are filled in one turn of the loop, so that frames come in between.
    private static let piece = 8

    /// Fills rows that were still to come, some in each turn of the loop.
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

    /// Gives the item of a row that was still to come its download.
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
        // In one step GTK would look for its rows among all new ones, and ask for each of those.
        change(TaskPages.Splice(position: 0, removed: rows.removed, added: 0))
        change(TaskPages.Splice(position: 0, removed: 0, added: rows.added))
    }

    private func change(_ rows: TaskPages.Splice) {
        count += rows.added - rows.removed
        g_list_model_items_changed(
            object.opaque,
            guint(rows.position),
            guint(rows.removed),
            guint(rows.added)
        )
    }

    /// Takes note that a question has no answer, so that its rows are asked for again.
    func forget(_ question: TaskPages.Question) { pages.forget(question) }

    func apply(_ news: ListNews) -> TaskPages.Effect {
        let filter = pages.look.filter
        switch news {
        case .event(.removed(let id)): leave([id])
        case .removed(let ids): leave(ids)
        case .event(.changed(let id, let state, _)) where !filter.takes(state): leave([id])
        case .changed(let ids, let state, _) where !filter.takes(state): leave(ids)
        default: break
        }
        return pages.apply(news)
    }

    /// Downloads leave the rows, and the selection: nobody sees them any more.
    private func leave(_ ids: [String]) {
        let left = chosen.subtracting(ids.lazy.compactMap { UInt64($0) })
        guard left.count < chosen.count else { return }
        choose(left)
    }

    func show(_ look: TaskPages.Look) { pages.show(look) }

    func questionAnew(for rows: Range<Int>) -> TaskPages.Question { pages.questionAnew(for: rows) }

    // MARK: Selection

    private func isChosen(_ place: Int) -> Bool {
        pages[place].flatMap { UInt64($0.id) }.map(chosen.contains) ?? false
    }

    private func ids(_ places: Range<Int>) -> [UInt64] {
        let known = places.compactMap { pages[$0].flatMap { UInt64($0.id) } }
        guard known.count < places.count else { return known }
        // What a row shows is what is meant, also where its page was forgotten.
        return known
            + held().compactMap { place, id in
                places.contains(place) && pages[place] == nil ? id : nil
            }
    }

    private func choose(_ places: Range<Int>, isAlone: Bool) {
        let places = places.clamped(to: 0..<count)
        let ids = ids(places)
        setChosen(isAlone ? Set(ids) : chosen.union(ids))
        if ids.count < places.count { askForIDs(places) }
    }

    private func unchoose(_ places: Range<Int>) { setChosen(chosen.subtracting(ids(places))) }

    private func setSelection(_ selected: OpaquePointer?, _ mask: OpaquePointer?) {
        // Rows that are not known are meant, too, where all are.
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
