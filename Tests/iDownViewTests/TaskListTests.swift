// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownView

struct TaskListTests {
    private func task(
        _ id: Int,
        _ state: TaskProperties.State,
        _ name: String = "",
        size: Int64 = -1
    ) -> TaskProperties {
        var task = TaskProperties()
        task.id = "\(id)"
        task.url = "https://example.org/\(id)"
        task.fileName = name.isEmpty ? "file-\(id)" : name
        task.state = state
        task.totalBytes = size
        return task
    }

    private func load(_ list: inout TaskList, _ tasks: [TaskProperties]) {
        let serial = tasks.map(\.serial).max() ?? 0
        for news in [ListNews.anew, .page(tasks), .whole(serial)] { list.apply(news) }
    }

    private func loaded() -> TaskList {
        var list = TaskList()
        load(
            &list,
            [
                task(1, .completed, "b.iso", size: 10), task(2, .downloading, "A.zip", size: 30),
                task(3, .paused, "c.ISO", size: 20), task(4, .failed, "d", size: 5),
            ]
        )
        return list
    }

    private func change(
        _ list: inout TaskList,
        _ id: String,
        _ state: TaskProperties.State,
        _ edit: (inout TaskProperties) -> Void = { _ in }
    ) {
        guard let before = list[id] else { return }
        var after = before
        after.state = state
        edit(&after)
        let changes = after.dictionary(of: after.properties(changedSince: before))
        list.apply(.changed([id], state, changes))
    }

    @Test func `the list is loading, then loaded, empty or failed`() {
        var list = TaskList()
        #expect(list.content() == .loading)
        list.fail("no bus")
        #expect(list.content() == .failed("no bus"))
        list.apply(.anew)
        #expect(list.content() == .loading)
        list.apply(.whole(0))
        #expect(list.content() == .empty)
        list.apply(.added([task(1, .waiting)]))
        #expect(list.content() == .loaded)
        list.search = "nothing like it"
        #expect(list.content() == .noneFound)
        list.search = ""
        list.apply(.removed(["1"]))
        #expect(list.content() == .empty)
    }

    @Test func `an older list takes nothing back, and a new one begins anew`() {
        func task(_ id: Int, _ state: TaskProperties.State, _ serial: UInt64) -> TaskProperties {
            var task = self.task(id, state)
            task.serial = serial
            return task
        }
        var list = TaskList()
        load(&list, [task(10, .waiting, 4), task(9, .paused, 5)])
        #expect(list.rows() == ["9", "10"])
        list.apply(.added([task(11, .waiting, 6)]))
        list.apply(.removed(["9"]))
        list.apply(.changed(["10"], .downloading, ["Serial": .uint64(7)]))
        list.apply(.page([task(9, .paused, 5), task(10, .waiting, 4)]))
        #expect(list.rows() == ["10", "11"])
        #expect(list["10"]?.state == .downloading)
        #expect(list.count(in: .downloading) == 1)
        load(&list, [task(9, .paused, 5)])
        #expect(list.rows() == ["9"])
        #expect(list.count(in: .paused) == 1 && list.count(in: .downloading) == 0)
    }

    @Test func `search, filter and sort decide what is shown`() {
        var list = loaded()
        #expect(list.rows() == ["1", "2", "3", "4"])
        list.search = "ISO"
        #expect(list.rows() == ["1", "3"])
        list.search = "example.org/4"
        #expect(list.rows() == ["4"])
        list.search = ""
        list.filter = .unfinished
        #expect(list.rows() == ["2", "3", "4"])
        list.filter = .only(.paused)
        #expect(list.rows() == ["3"])
        list.filter = .all
        list.sort = .name
        #expect(list.rows() == ["2", "1", "3", "4"])
        list.sort = .size
        list.isDescending = true
        #expect(list.rows() == ["2", "3", "1", "4"])
        list.sort = .state
        list.isDescending = false
        #expect(list.rows() == ["2", "3", "1", "4"])
        list.sort = .host
        #expect(list.rows() == ["1", "2", "3", "4"])
        var filters: [TaskList.Filter] = []
        for _ in TaskList.Filter.known {
            filters.append(list.filter); list.filter = list.filter.next
        }
        #expect(filters == TaskList.Filter.known && list.filter == .all)
    }

    @Test func `by the time left, what does not run stands behind in both directions`() {
        var list = TaskList()
        let running = [(1, 9_000), (2, 1_000), (3, 0), (4, 5_000)].map { id, left in
            var task = task(id, .downloading)
            (task.totalBytes, task.speed) = (10_000, 10)
            task.downloadedBytes = 10_000 - UInt64(left)
            return task
        }
        var stuck = task(5, .downloading)
        stuck.speed = 0
        load(&list, [task(6, .completed)] + running + [stuck])
        list.sort = .timeLeft
        #expect(list.rows() == ["3", "2", "4", "1", "5", "6"])
        list.isDescending = true
        #expect(list.rows().prefix(4) == ["1", "4", "2", "3"])
    }

    @Test func `the search finds what the rows show, in whatever letters it is typed`() {
        var unnamed = task(5, .waiting)
        unnamed.fileName = ""
        unnamed.url = "https://example.org/Gr%C3%BC%C3%9Fe%20(1).txt"
        var list = TaskList()
        load(&list, [unnamed, task(6, .paused, "Maße.pdf")])
        for (search, found) in [
            ("GRÜSSE (1)", ["5"]), ("grüße", ["5"]), ("%c3%bc", ["5"]), ("MASSE", ["6"]),
            ("masse", ["6"]), ("ß", ["5", "6"]),
        ] {
            list.search = search
            #expect(list.rows() == found, "\(search)")
        }
        // A fresh link makes another name expect.
        list.search = "fresh"
        change(&list, "5", .waiting) { $0.url = "https://example.org/fresh" }
        #expect(list.rows() == ["5"])
    }

    @Test func `changes count, move and hide rows`() {
        var list = loaded()
        list.filter = .only(.downloading)
        #expect(list.rows() == ["2"])
        change(&list, "3", .downloading) {
            $0.speed = 7; $0.downloadedBytes = 4
        }
        #expect(list.rows() == ["2", "3"])
        #expect(list.count(in: .downloading) == 2 && list.count(in: .paused) == 0)
        #expect(list.totals.speed == 7 && list.totals.done == 4 && list.totals.whole == 50)
        change(&list, "2", .completed)
        #expect(list.rows() == ["3"])
        list.apply(.removed(["3"]))
        #expect(list.rows() == [])
        #expect(list.totals.speed == 0)
        #expect(list.count == 3)
        // What is not known is passed over.
        list.apply(.changed(["99"], .paused, [:]))
        list.apply(.removed(["99"]))
        #expect(list.count == 3)
    }

    @Test func `the cursor stays on its task, or in its place when that is gone`() {
        var list = loaded()
        list.moveCursor(by: 2)
        #expect(list.cursor == "3")
        list.isDescending = true
        #expect(list.cursorRow() == 1 && list.cursor == "3")
        list.apply(.removed(["3"]))
        #expect(list.cursorRow() == 1 && list.cursor == "2")
        list.moveCursor(by: 99)
        #expect(list.cursor == "1")
        list.moveCursor(by: -99)
        #expect(list.cursor == "4")
        list.moveCursor(to: .max)
        #expect(list.cursor == "1")
        load(&list, [])
        #expect(list.rows() == [] && list.cursor == nil)
        list.moveCursor(by: 1)
    }

    @Test func `edit mode chooses, and forgets what is gone`() {
        var list = loaded()
        list.toggleChoice()
        #expect(list.chosen.isEmpty && list.targets() == ["1"])
        list.setEditing(true)
        #expect(list.targets() == [])
        list.toggleChoice()
        list.moveCursor(by: 2)
        list.toggleChoice()
        #expect(list.targets() == ["1", "3"])
        list.filter = .only(.paused)
        #expect(list.targets() == ["3", "1"])
        list.toggleChoice()
        list.filter = .all
        #expect(list.targets() == ["1"])
        list.toggleAll()
        #expect(list.targets() == ["1", "2", "3", "4"])
        list.apply(.removed(["2"]))
        #expect(list.targets() == ["1", "3", "4"])
        list.toggleAll()
        #expect(list.targets() == [])
        list.setEditing(false)
        #expect(!list.isEditing)
    }
}
