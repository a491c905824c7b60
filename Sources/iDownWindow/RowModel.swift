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
    /// The selected downloads.
    private(set) var chosen: Set<UInt64> = []
    /// The items of known rows, so that GTK finds the same item in another place.
    private var items: [UInt64: Object] = [:]
    /// The rows that GTK has asked for and that are not known.
    private var missing: Set<Int> = []
    private var isAskingSoon = false
    private var isFilling = false

    /// Asks the service for rows.
    var ask: ([TaskPages.Question]) -> Void = { _ in }
    /// The rows that GTK holds and whose downloads are still to come.
    var blanks: () -> [Int] = { [] }
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
            table.pointee.get_n_items = { _ in guint(RowModel.shared.pages.count) }
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
                RowModel.shared.choose(0..<RowModel.shared.pages.count, isAlone: false)
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
        guard place < pages.count else { return nil }
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
        let result = pages.take(tasks, total: total, for: question)
        forgetItems()
        if question.isAnew {
            if let splice = result.splice { change(splice) }
            // The answers that were under way are void.
            missing.formUnion(blanks())
            askSoon()
        }
        fillSoon()
        return (result.changed, result.isOld)
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

    private func change(_ rows: TaskPages.Splice) {
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
        if case .event(.removed(let id)) = news, let id = UInt64(id), chosen.remove(id) != nil {
            selectionChanged()
        }
        if case .removed(let ids) = news {
            chosen.subtract(ids.compactMap { UInt64($0) })
            selectionChanged()
        }
        return pages.apply(news)
    }

    func show(_ look: TaskPages.Look) { pages.show(look) }

    func questionAnew(for rows: Range<Int>) -> TaskPages.Question { pages.questionAnew(for: rows) }

    // MARK: Selection

    private func isChosen(_ place: Int) -> Bool {
        pages[place].flatMap { UInt64($0.id) }.map(chosen.contains) ?? false
    }

    private func ids(_ places: Range<Int>) -> [UInt64] {
        places.compactMap { pages[$0].flatMap { UInt64($0.id) } }
    }

    private func choose(_ places: Range<Int>, isAlone: Bool) {
        let ids = ids(places.clamped(to: 0..<pages.count))
        setChosen(isAlone ? Set(ids) : chosen.union(ids))
        if ids.count < places.count { askForIDs(places) }
    }

    private func unchoose(_ places: Range<Int>) { setChosen(chosen.subtracting(ids(places))) }

    private func setSelection(_ selected: OpaquePointer?, _ mask: OpaquePointer?) {
        var chosen = chosen
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
        guard ids != chosen else { return }
        chosen = ids
        if pages.count > 0 {
            gtk_selection_model_selection_changed(object.opaque, 0, guint(pages.count))
        }
        selectionChanged()
    }
}
