// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus

/// The list that its news make.
@Suite struct LiveListTests {
    private func task(_ id: String, _ serial: UInt64) -> TaskProperties {
        var task = TaskProperties()
        (task.id, task.serial) = (id, serial)
        return task
    }

    @Test func `a late signal brings no task back that the whole answer did not have any more`() {
        var list = LiveList()
        for news in [ListNews.anew, .page([task("1", 3)]), .removed([]), .whole(9)] {
            list.apply(news)
        }
        // Task 2 was added by commit 5 and removed by commit 8, whose signal was lost.
        list.apply(.event(.added(task("2", 5))))
        #expect(Set(list.tasks.keys) == ["1"])
        list.apply(.event(.added(task("3", 10))))
        #expect(Set(list.tasks.keys) == ["1", "3"])
    }

    @Test func `of a service without serials every signal counts`() {
        var list = LiveList()
        for news in [ListNews.anew, .page([]), .whole(0)] { list.apply(news) }
        list.apply(.event(.added(task("1", 0))))
        #expect(Set(list.tasks.keys) == ["1"])
        list.apply(.event(.removed(id: "1")))
        #expect(list.tasks.isEmpty)
    }
}
