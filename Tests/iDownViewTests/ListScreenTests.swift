// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus

@testable import iDownView

struct ListScreenTests {
    private func screen(_ tasks: [TaskProperties] = [.finished, .running, .broken]) -> ListScreen {
        var screen = ListScreen()
        for news in [ListNews.anew, .page(tasks), .whole(0)] { screen.list.apply(news) }
        return screen
    }

    private func text(_ screen: inout ListScreen, _ width: Int = 80, _ height: Int = 24) -> String {
        screen.frame(width: width, height: height) { _ in "now" }.text.joined(separator: "\n")
    }

    private func type(_ keys: String, _ screen: inout ListScreen) -> [ListRequest] {
        keys.flatMap { screen.press(.character($0)) }
    }

    @Test func `Enter pauses, resumes or retries a download, and opens a finished file`() {
        var paused = TaskProperties.running
        paused.id = "8"
        paused.state = .paused
        var screen = screen([.running, paused, .broken, .finished])
        #expect(screen.press(.enter) == [.verb(.open, ["3"])])
        _ = screen.press(.down)
        #expect(screen.press(.enter) == [.verb(.pause, ["7"])])
        _ = screen.press(.down)
        #expect(screen.press(.enter) == [.verb(.resume, ["8"])])
        _ = screen.press(.down)
        #expect(screen.press(.enter) == [.verb(.retry, ["12"])])
    }

    @Test func `a finished file is opened from the menu, and shown in its folder by a key`() {
        var other = TaskProperties.finished
        other.id = "9"
        var screen = screen([.finished, .running, other])
        _ = type("m", &screen)
        let menu = text(&screen)
        #expect(menu.contains("1  Open") && menu.contains("2  Show in folder"), "\(menu)")
        #expect(screen.press(.enter) == [.verb(.open, ["3"])])
        #expect(type("m2", &screen) == [.verb(.reveal, ["3"])])
        #expect(type("w", &screen) == [.verb(.reveal, ["3"])])
        // Several at once.
        #expect(type("  ", &screen) == [])
        #expect(type("w", &screen) == [])
        #expect(text(&screen).contains("Only a completed download"), "\(text(&screen))")
        _ = screen.press(.up)
        #expect(type("  w", &screen) == [.verb(.reveal, ["3", "9"])])
        _ = screen.press(.home)
        _ = screen.press(.down)
        #expect(type("w", &screen) == [])
        #expect(text(&screen).contains("Only a completed download"), "\(text(&screen))")
        #expect(type("m", &screen) == [])
        #expect(!text(&screen).contains("Open"), "\(text(&screen))")
    }

    @Test func `the last line has the keys of what is in front`() {
        var screen = screen([.running, .broken, .finished])
        for (keys, hint) in [
            ("", "Enter open  m menu"), ("j", "Enter pause  m menu"), ("j", "Enter retry  m menu"),
            ("m", "Enter choose  Esc close"), ("xi", "↑ ↓ scroll  Esc close"),
            ("x?", "↑ ↓ scroll  Esc close"), ("xa", "Enter add  Esc cancel"),
        ] {
            _ = type(keys, &screen)
            let line = screen.frame(width: 80, height: 24) { _ in "" }.text[23]
            #expect(line.hasPrefix(" \(hint)"), "\(line)")
        }
        _ = screen.press(.escape)
        for (keys, hint) in [("e", "Space select"), ("e/", "Enter keep the search")] {
            _ = type(keys, &screen)
            let line = screen.frame(width: 80, height: 24) { _ in "" }.text[23]
            #expect(line.hasPrefix(" \(hint)"), "\(line)")
        }
        // With nothing under the cursor Enter does nothing.
        _ = type("zzz", &screen)
        _ = screen.press(.enter)
        #expect(text(&screen).contains("No download matches."), "\(text(&screen))")
        #expect(
            text(&screen).hasSuffix(
                "\n m menu  i details  e select  a add  / search  ? keys  q quit"
            )
        )
    }

    @Test func `every state has a sign, its numbers or its reason, at any size`() {
        var screen = screen()
        let wide = text(&screen, 200, 60)
        #expect(wide.contains("✓ 日本語.zip"), "\(wide)")
        #expect(wide.contains("↓ disk.iso"), "\(wide)")
        #expect(wide.contains("50.0 / 200.0 MiB"), "\(wide)")
        #expect(wide.contains("2.0 MiB/s"), "\(wide)")
        #expect(wide.contains("1m15s"), "\(wide)")
        #expect(wide.contains("example.org"), "\(wide)")
        #expect(wide.contains("✗ gone"), "\(wide)")
        #expect(wide.contains("  the server answered HTTP 404"), "\(wide)")
        let narrow = text(&screen)
        #expect(narrow.contains("2.0 MiB/s") && narrow.contains("25%"), "\(narrow)")
        for width in [0, 1, 7, 20, 50, 79, 80, 119, 120, 300] {
            for height in [0, 1, 3, 5, 24, 100] {
                let frame = screen.frame(width: width, height: height) { _ in "" }
                #expect(frame.lines.count == height)
                for span in frame.lines.joined() {
                    #expect(span.column + CellText(span.text).width <= width)
                }
            }
        }
    }

    @Test(arguments: [
        (1_048_492, 1_048_576, "1023.9 MiB / 1.0 GiB"),
        (524_288, 125_829_120, "512.0 MiB / 120 GiB"),
        (1_048_492, 1_073_655_808, "1023 MiB / 1023 GiB"),
    ])
    func `large numbers of bytes keep their units`(done: Int, whole: Int, shown: String) {
        var task = TaskProperties.running
        task.downloadedBytes = UInt64(done) << 10
        task.totalBytes = Int64(whole) << 10
        var screen = screen([task])
        let list = text(&screen)
        #expect(list.contains(" \(shown) "), "\(list)")
    }

    @Test func `the time left counts only the speed of downloads whose size is known`() {
        var endless = TaskProperties.running
        endless.id = "8"
        endless.totalBytes = -1
        endless.speed = 100 << 20
        var screen = screen([.running, endless])
        let foot = text(&screen)
        #expect(foot.contains("102.0 MiB/s   50.0 MiB of 200.0 MiB   1m15s left"), "\(foot)")
    }

    @Test func `on a small screen the rows come first, and typed text is visible`() {
        for height in 1...8 {
            var screen = screen()
            let list = text(&screen, 60, height)
            #expect(list.contains("✓ 日本語.zip"), "\(height): \(list)")
            #expect(list.contains("NAME") == (height > 4), "\(height): \(list)")
            _ = type("/disk", &screen)
            #expect(text(&screen, 60, height).contains("Search: disk"), "\(height)")
            _ = screen.press(.enter)
            #expect(text(&screen, 60, height).contains("↓ disk.iso"), "\(height)")
        }
    }

    @Test func `on a small screen a click finds its row`() {
        var screen = screen()
        _ = text(&screen, 60, 4)
        _ = screen.press(.click(2))
        #expect(screen.list.cursor == "7")
    }

    @Test func `the menu offers what the state allows, and details`() {
        var screen = screen()
        _ = type("jm", &screen)
        let menu = text(&screen)
        #expect(menu.contains("1  Pause") && menu.contains("4  Details"), "\(menu)")
        #expect(screen.press(.enter) == [.verb(.pause, ["7"])])
        #expect(type("m2", &screen) == [])
        #expect(text(&screen).contains("partial file: disk.iso?"), "\(text(&screen))")
        #expect(type("n", &screen) == [])
        #expect(type("m2y", &screen) == [.verb(.cancel, ["7"])])
        #expect(type("m4", &screen) == [.details("7")])
        #expect(screen.detailed == "7")
        #expect(text(&screen).contains("https://example.org/disk.iso?key=1"))
        _ = type("x", &screen)
        #expect(screen.detailed == nil)
        _ = type("m", &screen)
        screen.list.apply(.removed(["7"]))
        #expect(screen.press(.enter) == [])
    }

    @Test func `details that do not fit scroll, and say that there is more`() {
        var task = TaskProperties.running
        task.url = "https://example.org/" + String(repeating: "long/", count: 40) + "end"
        task.createdAt = 1
        var screen = screen([task])
        _ = type("i", &screen)
        let first = text(&screen, 80, 12)
        #expect(first.contains("│ ID:") && first.contains("↑ ↓ lines 1 to 8 of 1"), "\(first)")
        #expect(!first.contains("Added:"), "\(first)")
        for keys in [
            [ListScreen.Key.end], [.pageDown, .pageDown, .pageDown], [.character("G")],
            [.wheel(3), .wheel(30)], Array(repeating: .down, count: 30),
            Array(repeating: .character("j"), count: 30), [.character(" "), .character(" ")],
        ] {
            for key in keys { #expect(screen.press(key) == []) }
            let last = text(&screen, 80, 12)
            #expect(last.contains("Added:        now"), "\(keys): \(last)")
            #expect(!last.contains("│ ID:"), "\(keys): \(last)")
            _ = screen.press(.up)
            #expect(!text(&screen, 80, 12).contains("Added:"), "\(keys)")
            _ = screen.press(.home)
            #expect(text(&screen, 80, 12) == first, "\(keys)")
        }
        // The whole URL can be read, in a box as wide as the terminal lets it be.
        let all = text(&screen, 80, 40)
        let shown = all.split(separator: "\n").filter { $0.contains("long/") && $0.contains("│") }
        let parts = shown.joined().split(separator: "long/", omittingEmptySubsequences: false)
        #expect(parts.count == 41, "\(all)")
        #expect(!all.contains("lines 1 to"), "\(all)")
        _ = screen.press(.escape)
        #expect(!text(&screen).contains("┌"))
    }

    @Test func `details ask for the properties that signals leave out`() {
        var screen = screen([.running])
        #expect(type("i", &screen) == [.details("7")])
        #expect(!text(&screen).contains("On disk"))
        var whole = TaskProperties.running
        whole.segments = [Structure(0, 50 << 20), Structure(150 << 20, 25 << 20)]
        whole.url += "&more=1"
        whole.connections = 2
        screen.list.apply(.page([whole]))
        let details = text(&screen)
        #expect(details.contains("On disk:      █████"), "\(details)")
        #expect(details.contains("?key=1&more=1") && details.contains("Connections:  2"))
        #expect(details.contains("State:        downloading"), "\(details)")
    }

    @Test func `a menu that does not fit scrolls with its mark`() {
        var screen = screen()
        _ = type("m", &screen)
        for _ in 0..<9 { _ = screen.press(.down) }
        let menu = text(&screen, 80, 6)
        #expect(menu.contains("Details") && !menu.contains("1  Retry"), "\(menu)")
    }

    @Test func `a long error at the foot is whole, and the cursor stays in sight`() {
        var task = TaskProperties.broken
        task.id = "99"
        task.errorMessage = String(repeating: "words of an error ", count: 8) + "with an end"
        var tasks = (20...60).map { number in
            var task = TaskProperties.running
            task.id = "\(number)"
            return task
        }
        tasks.append(task)
        var screen = screen(tasks)
        _ = screen.press(.end)
        let failed = screen.frame(width: 80, height: 24) { _ in "" }
        #expect(failed.text.joined().contains("words of an error with an end"), "\(failed.text)")
        #expect(failed.lines.contains { $0.first?.isReversed == true && $0.count > 2 })
        // What is longer than a third of the screen has an end that says so.
        task.errorMessage = String(repeating: "words of an error ", count: 90)
        screen.list.apply(.added([task]))
        let cut = screen.frame(width: 80, height: 24) { _ in "" }.text
        #expect(cut[22].hasSuffix("…") && cut[15].contains("words of"), "\(cut)")
        #expect(cut[23].contains("? keys"), "\(cut)")
        // What the service says, too.
        _ = screen.press(.home)
        screen.fail(String(repeating: "why ", count: 30) + "not")
        #expect(text(&screen).contains("why not"), "\(text(&screen))")
    }

    @Test func `a menu is drawn again if its entries changed with the state`() {
        var screen = screen()
        _ = type("jm", &screen)
        screen.list.apply(.changed(["7"], .completed, [:]))
        #expect(screen.press(.enter) == [])
        #expect(text(&screen).contains("1  Open"))
    }

    @Test func `a verb applies to all selected downloads, after a question if it deletes`() {
        var screen = screen()
        _ = type("e*", &screen)
        #expect(text(&screen).contains("[x]") && text(&screen).contains("3 selected"))
        #expect(type("p", &screen) == [.verb(.pause, ["3", "7", "12"])])
        #expect(!text(&screen).contains("[x]"))
        _ = screen.press(.home)
        // Space begins it, too.
        _ = type("  d", &screen)
        #expect(text(&screen).contains("2 downloads?"))
        #expect(type("y", &screen) == [.verb(.remove, ["3", "7"])])
    }

    @Test func `cancel asks only about downloads that can be cancelled`() {
        var other = TaskProperties.finished
        other.id = "4"
        var screen = screen([.finished, other, .running, .broken])
        #expect(type("c", &screen) == [])
        let refused = text(&screen)
        #expect(refused.contains("The task is completed. Remove takes it off the list."))
        #expect(!refused.contains("y: yes"), "\(refused)")
        #expect(type("y", &screen) == [])
        #expect(type("  c", &screen) == [])
        #expect(text(&screen).contains("None of the selected downloads can be cancelled."))
        #expect(type("  c", &screen) == [])
        #expect(text(&screen).contains("2 downloads?"), "\(text(&screen))")
        #expect(type("y", &screen) == [.verb(.cancel, ["7", "12"])])
    }

    @Test(arguments: [ListScreen.Key.enter, .escape, .up, .paste("y"), .character("Y")])
    func `only y says yes where something is deleted`(key: ListScreen.Key) {
        var screen = screen()
        _ = type("jd", &screen)
        #expect(text(&screen).contains("the partial file: disk.iso?"), "\(text(&screen))")
        #expect(screen.press(key) == [])
        #expect(!text(&screen).contains("the partial file"))
        #expect(type("dy", &screen) == [.verb(.remove, ["7"])])
    }

    @Test func `search narrows the list as it is typed`() {
        var screen = screen()
        _ = type("/iso", &screen)
        #expect(text(&screen).contains("Search: iso") && !text(&screen).contains("gone"))
        let typing = screen.frame(width: 80, height: 24) { _ in "" }.typing
        #expect(typing?.line == 22 && typing?.column == 12)
        _ = screen.press(.enter)
        #expect(!text(&screen).contains("gone"))
        _ = screen.press(.escape)
        #expect(text(&screen).contains("gone"))
    }

    @Test func `URLs are typed or pasted, and a pasted line is never a command`() {
        var screen = screen()
        _ = type("ahttps://a/x", &screen)
        #expect(screen.press(.backspace) == [])
        #expect(screen.press(.enter) == [.add(["https://a/"])])
        _ = type("aexample.org/x", &screen)
        #expect(screen.press(.enter) == [.add(["https://example.org/x"])])
        #expect(screen.press(.paste("https://a/q\nhttps://b/d\n")) == [])
        #expect(text(&screen).contains("URL: https://a/q https://b/d"))
        #expect(screen.press(.enter) == [.add(["https://a/q", "https://b/d"])])
        _ = type("a", &screen)
        #expect(screen.press(.escape) == [])
        #expect(type("S", &screen) == [.startAll])
    }

    @Test func `of a typed text the last word is deleted, or everything`() {
        var screen = screen()
        _ = type("ab.org/1 b.org/2  ", &screen)
        #expect(screen.press(.deleteWord) == [])
        #expect(text(&screen).contains("URL: b.org/1\n"), "\(text(&screen))")
        _ = screen.press(.deleteAll)
        #expect(screen.press(.deleteWord) == [])
        #expect(type("c.org/3", &screen) == [])
        #expect(screen.press(.enter) == [.add(["https://c.org/3"])])
        _ = type("/iso disk", &screen)
        _ = screen.press(.deleteWord)
        #expect(screen.list.search == "iso ")
        _ = screen.press(.deleteAll)
        #expect(screen.list.search.isEmpty && text(&screen).contains("Search:"))
        // In the list the keys do nothing.
        _ = screen.press(.enter)
        let before = text(&screen)
        #expect(screen.press(.deleteAll) == [] && screen.press(.deleteWord) == [])
        #expect(text(&screen) == before)
    }

    @Test func `the end of a long paste is shown`() {
        var screen = screen()
        let urls = (1...20_000).map { "https://example.org/日本/\($0).iso" }
        #expect(screen.press(.paste(urls.joined(separator: "\n"))) == [])
        let frame = screen.frame(width: 40, height: 24) { _ in "" }
        let line = frame.text[22]
        #expect(line.hasPrefix(" URL: …") && line.contains("/20000.iso"), "\(line)")
        #expect(frame.typing?.column ?? 40 < 40)
        #expect(screen.press(.enter) == [.add(urls)])
    }

    @Test func `an operation is shown while it runs and when it has ended`() {
        var screen = screen()
        screen.begin(.verb(.pause, ["7"]))
        #expect(text(&screen).contains("Pausing download 7 …"))
        screen.fail("a task that is completed cannot pause")
        #expect(text(&screen).contains("cannot pause"))
        #expect(screen.operation == .failed("a task that is completed cannot pause"))
        _ = screen.press(.down)
        #expect(screen.operation == .none)
        screen.succeed("3 started")
        #expect(text(&screen).contains("3 started"))
    }

    @Test func `the row under the cursor is one bar of one colour`() {
        var paused = TaskProperties.running
        paused.id = "8"
        paused.state = .paused
        var screen = screen([.running, paused, .broken, .finished])
        for keys in ["", "e*"] {
            _ = type(keys, &screen)
            _ = screen.press(.home)
            for line in 2..<6 {
                let frame = screen.frame(width: 130, height: 24) { _ in "" }
                let row = frame.lines[line]
                #expect(row.count > 3 && row.allSatisfy(\.isReversed), "\(row)")
                #expect(row.allSatisfy { $0.ink == .plain }, "\(row)")
                #expect(row.first?.text == String(repeating: " ", count: 130))
                _ = screen.press(.down)
            }
        }
    }

    @Test func `rows scroll with the cursor`() {
        let tasks = (1...100).map { number in
            var task = TaskProperties.running
            task.id = "\(number)"
            task.fileName = "file-\(number)"
            return task
        }
        var screen = screen(tasks)
        _ = text(&screen)
        _ = screen.press(.pageDown)
        #expect(screen.list.cursor == "20")
        #expect(text(&screen).contains("file-20 ") && !text(&screen).contains("file-1 "))
        _ = screen.press(.end)
        #expect(text(&screen).contains("file-100"))
        _ = screen.press(.click(2))
        #expect(screen.list.cursor == "82")
        #expect(screen.press(.doubleClick(3)) == [.verb(.pause, ["83"])])
        _ = screen.press(.wheel(-3))
        #expect(screen.list.cursor == "80")
        _ = screen.press(.home)
        #expect(text(&screen).contains("file-1 "))
    }

    @Test(arguments: [-1, 0, 1, 5, 20, 21, 23, 99])
    func `a click outside the rows changes nothing`(line: Int) {
        var screen = screen()
        _ = text(&screen)
        _ = screen.press(.down)
        #expect(screen.press(.doubleClick(line)) == [])
        _ = screen.press(.click(line))
        #expect(screen.list.cursor == "7")
    }

    @Test func `a joined emoji moves no column and no side of a box`() {
        var task = TaskProperties.running
        task.fileName = "👨‍👩‍👧‍👦🇩🇪1️⃣ " + String(repeating: "👍🏽", count: 40)
        var plain = task
        plain.fileName = "xxxxx " + String(repeating: "x", count: 80)
        var screen = screen([task])
        var plainScreen = self.screen([plain])
        for keys in ["", "i"] {
            _ = type(keys, &screen)
            _ = type(keys, &plainScreen)
            let frame = screen.frame(width: 80, height: 24) { _ in "" }
            let other = plainScreen.frame(width: 80, height: 24) { _ in "" }
            for (line, plainLine) in zip(frame.lines, other.lines) {
                #expect(line.map(\.column) == plainLine.map(\.column), "\(frame.text)\(other.text)")
                for (span, plain) in zip(line, plainLine) where !span.text.contains("👍") {
                    #expect(CellText(span.text).width == CellText(plain.text).width)
                }
            }
            let isSimple = frame.lines.joined().allSatisfy { span in
                span.text.unicodeScalars.allSatisfy { $0.value < 0x1F1E6 || $0.value > 0x1F3FF }
            }
            #expect(isSimple)
        }
    }

    @Test func `a name from a server sends no commands to the terminal`() {
        var task = TaskProperties.running
        task.fileName = "a\u{1B}[2Jb\u{202E}c\nd"
        var screen = screen([task])
        let frame = screen.frame(width: 80, height: 24) { _ in "" }
        let isClean = frame.lines.joined().allSatisfy { span in
            span.text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E }
        }
        #expect(isClean)
    }
}

extension ScreenFrame {
    /// The screen as plain text.
    fileprivate var text: [String] {
        lines.map { spans in
            // Cell by cell: after a wide character comes an empty cell.
            var cells: [String] = Array(repeating: " ", count: width)
            for span in spans {
                var column = span.column
                for character in span.text {
                    let cellsTaken = CellText(String(character)).width
                    guard cells.indices.contains(column) else { break }
                    cells[column] = String(character)
                    let end = min(width, column + max(1, cellsTaken))
                    for taken in (column + 1)..<end { cells[taken] = "" }
                    column += max(1, cellsTaken)
                }
            }
            var text = cells.joined()
            while text.last == " " { text.removeLast() }
            return text
        }
    }
}
