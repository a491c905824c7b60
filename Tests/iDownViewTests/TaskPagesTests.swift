// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownView

struct TaskPagesTests {
    private func task(
        _ id: Int,
        _ state: TaskProperties.State = .waiting,
        serial: UInt64 = 1
    ) -> TaskProperties {
        var task = TaskProperties()
        task.id = "\(id)"
        task.serial = serial
        task.state = state
        task.fileName = "file-\(id)"
        return task
    }

    /// A list of so many rows, the first of which are known; the newest is the first row.
    private func loaded(_ count: Int) -> TaskPages {
        var pages = TaskPages()
        _ = answer(&pages, count)
        return pages
    }

    private func answer(_ pages: inout TaskPages, _ count: Int) -> TaskPages.Splice? {
        let question = pages.reloadQuestion(for: 0..<0)
        let rows = (0..<min(count, TaskPages.pageLength)).map { task(count - $0) }
        return pages.take(rows, total: count, for: question).splice
    }

    @Test
    func `the first answer brings all rows, of which one page is known`() {
        var pages = TaskPages()
        #expect(answer(&pages, 100_000) == .init(position: 0, removed: 0, added: 100_000))
        #expect(pages.count == 100_000)
        #expect(pages[0]?.id == "100000")
        #expect(pages[500] == nil)
    }

    @Test
    func `each page is asked for once`() throws {
        var pages = loaded(1_000)
        let questions = pages.questions(for: [0, 300, 301, 999])
        #expect(questions.map(\.query.offset) == [256, 896])
        #expect(pages.questions(for: [300]).isEmpty)
        let rows = (256..<384).map { task(1_000 - $0) }
        let first = try #require(questions.first)
        let result = pages.take(rows, total: 1_000, for: first)
        #expect(result.splice == nil)
        #expect(pages[300]?.id == "700")
    }

    @Test
    func `of a long list the pages that were used last are known`() throws {
        var pages = loaded(100_000)
        for page in 1...20 {
            let row = page * TaskPages.pageLength
            let question = try #require(pages.questions(for: [row]).first)
            _ = pages.take(
                (row..<(row + TaskPages.pageLength)).map { task(100_000 - $0) },
                total: 100_000,
                for: question
            )
            pages.use(0)
        }
        #expect(pages.known.count == 8 * TaskPages.pageLength)
        #expect(pages[0] != nil)
        #expect(pages[TaskPages.pageLength] == nil)
        #expect(pages[20 * TaskPages.pageLength]?.id == "97440")
        #expect(pages.questions(for: [TaskPages.pageLength]).count == 1)
    }

    @Test
    func `a page of a list that has grown meanwhile is not shown`() throws {
        var pages = loaded(1_000)
        let question = try #require(pages.questions(for: [300]).first)
        let result = pages.take([task(1)], total: 1_001, for: question)
        #expect(result.isOld)
        #expect(pages[300] == nil)
    }

    @Test
    func `an answer to an older question says nothing`() throws {
        var pages = loaded(1_000)
        let question = try #require(pages.questions(for: [300]).first)
        _ = answer(&pages, 1_000)
        let result = pages.take([task(1)], total: 5, for: question)
        #expect(result.splice == nil && !result.isOld)
        #expect(pages.count == 1_000)
    }

    @Test
    func `a download that was added moves the others down by one row`() {
        var pages = loaded(3)
        #expect(answer(&pages, 4) == .init(position: 0, removed: 0, added: 1))
    }

    @Test
    func `the same rows move nothing`() {
        var pages = loaded(3)
        #expect(answer(&pages, 3) == nil)
    }

    @Test
    func `rows that change places are replaced, and no others`() {
        var pages = loaded(5)
        let question = pages.reloadQuestion(for: 0..<5)
        let rows = [5, 3, 4, 2, 1].map { task($0) }
        let splice = pages.take(rows, total: 5, for: question).splice
        #expect(splice == .init(position: 1, removed: 2, added: 2))
    }

    private func shown(_ filter: TaskList.Filter) -> TaskPages.Look {
        var look = TaskPages.Look()
        look.filter = filter
        return look
    }

    @Test
    func `the rows of another look take the place of all rows`() {
        var pages = TaskPages()
        pages.show(shown(.only(.cancelled)))
        #expect(answer(&pages, 3) == .init(position: 0, removed: 0, added: 3))
        pages.show(shown(.all))
        #expect(answer(&pages, 300) == .init(position: 0, removed: 3, added: 300))
        #expect(pages.shownLook == pages.look)
        #expect(answer(&pages, 301) == .init(position: 0, removed: 0, added: 1))
    }

    @Test
    func `before another look is answered no page is asked for, and none is taken`() throws {
        var pages = loaded(300)
        let question = try #require(pages.questions(for: [200]).first)
        pages.show(shown(.unfinished))
        #expect(pages.questions(for: [299]).isEmpty)
        _ = pages.take((128..<256).map { task(300 - $0) }, total: 300, for: question)
        #expect(pages[200] == nil)
        #expect(pages[0]?.id == "300")
        #expect(pages.reloadQuestion(for: 128..<256).query.offset == 0)
    }

    @Test
    func `however far rows are apart, no question is for more than are kept`() {
        var pages = loaded(100_000)
        let limit = pages.reloadQuestion(for: 0..<90_000).query.limit
        #expect(limit == UInt32(TaskPages.mostRows))
    }

    @Test
    func `a page that was not known is drawn anew, as rows may show what was long ago`() throws {
        var pages = loaded(300)
        let question = try #require(pages.questions(for: [299]).first)
        let rows = (256..<300).map { task(300 - $0) }
        #expect(pages.take(rows, total: 300, for: question).changed == rows.map(\.id))
    }

    @Test
    func `a change of a known row draws that row, and one of progress moves nothing`() {
        var pages = loaded(3)
        let news = ListNews.changed(["2"], .waiting, ["DownloadedBytes": .uint64(7)])
        let effect = pages.apply(news)
        #expect(effect.changed == ["2"])
        #expect(effect.changedState.isEmpty)
        #expect(!effect.movesRows && !effect.movesCounts)
        #expect(pages["2"]?.downloadedBytes == 7)
    }

    @Test
    func `a change that overtakes the answer with its task has everything asked anew`() {
        let change = ListNews.changed(["7"], .completed, ["State": .string("completed")])
        var pages = loaded(3)
        #expect(!pages.apply(change).movesRows)
        let question = pages.reloadQuestion(for: 0..<0)
        #expect(pages.apply(change).movesRows)
        _ = pages.take([task(7), task(3)], total: 4, for: question)
        var other = loaded(1_000)
        #expect(other.questions(for: [300]).count == 1)
        #expect(other.apply(change).movesRows)
    }

    @Test
    func `an older statement about a task changes nothing`() {
        var pages = loaded(3)
        let question = pages.reloadQuestion(for: 0..<3)
        let rows = [task(3), task(2, .paused, serial: 9), task(1)]
        _ = pages.take(rows, total: 3, for: question)
        let old = ["Serial": Value.uint64(8)]
        let effect = pages.apply(.changed(["2"], .waiting, old))
        #expect(effect.changed.isEmpty)
        #expect(pages["2"]?.state == .paused)
    }

    @Test
    func `an answer with the serial of a row takes no progress back`() {
        var pages = loaded(3)
        let question = pages.reloadQuestion(for: 0..<3)
        let progress = ["DownloadedBytes": Value.uint64(7)]
        _ = pages.apply(.changed(["2"], .waiting, progress))
        let taken = pages.take([task(3), task(2), task(1)], total: 3, for: question)
        #expect(taken.changed.isEmpty)
        #expect(pages["2"]?.downloadedBytes == 7)
    }

    @Test
    func `a new state moves rows under a filter, and counts always`() {
        var pages = loaded(3)
        let news = ListNews.changed(["2"], .paused, [:])
        var effect = pages.apply(news)
        #expect(effect.movesCounts && !effect.movesRows)
        #expect(effect.changedState == ["2"])
        var look = TaskPages.Look()
        look.filter = .only(.waiting)
        pages.show(look)
        effect = pages.apply(.changed(["1"], .paused, [:]))
        #expect(effect.movesCounts && effect.movesRows)
    }

    @Test(arguments: [ListNews.anew, .removed(["2"]), .removed(["2", "3"])])
    func `what comes or goes asks for everything anew`(news: ListNews) {
        var pages = loaded(3)
        let effect = pages.apply(news)
        #expect(effect.movesRows && effect.movesCounts)
    }

    @Test
    func `what is shown is what the service is asked for`() {
        var look = TaskPages.Look()
        #expect(look.query.states.isEmpty && look.query.text == nil)
        (look.filter, look.search, look.sort) = (.unfinished, "iso", .size)
        #expect(look.query.states == [.waiting, .downloading, .paused, .failed])
        #expect(look.query.text == "iso")
        #expect(look.query.sort == .size)
    }
}
