// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownView

@testable import iDownDesktop

@Suite struct NotificationTextTests {
    private func group(_ names: [String], failure: String = "") -> NotificationGroup {
        var group = NotificationGroup()
        for (index, name) in names.enumerated() {
            group.add(.sample("\(index)", .completed, name: name, failure: failure))
        }
        return group
    }

    @Test func `a notification of one file names it and can open it`() {
        let text = NotificationText(
            .completed,
            group(["a.iso"]),
            capabilities: ["body", "actions"]
        )
        #expect(text.summary == "Download completed")
        #expect(text.body == "a.iso")
        #expect(
            text.actions
                == ["default", "Open", "open", "Open", "reveal", "Show in Folder"]
        )
    }

    @Test func `a notification of many files has a few lines`() {
        let names = (1...120).map { "file\($0)" }
        let text = NotificationText(.completed, group(names), capabilities: ["body"])
        #expect(text.summary == "120 downloads completed")
        #expect(text.body == "file117\nfile118\nfile119\nfile120\nand 116 more")
        #expect(text.actions.isEmpty)
    }

    @Test func `a notification of a failure tells the reason`() {
        let text = NotificationText(
            .failed,
            group(["a.iso"], failure: "HTTP 404. Or \(Failure.freshLink)"),
            capabilities: ["body", "actions"]
        )
        #expect(text.summary == "Download failed")
        #expect(text.body == "a.iso: HTTP 404. Or give a fresh link.")
        #expect(text.actions == ["retry", "Retry"])
    }

    @Test func `in another language the reason is the sentence of the failure's code`() {
        var task = DesktopTask.sample("1", .failed, failure: "the server answered HTTP 404")
        task.errorCode = "Server.NotFound"
        task.name = nil
        let wording = Wording(text: { "<\($0)>" }, plural: { "<\($2 == 1 ? $0 : $1)>" })
        let text = Wording.$current.withValue(wording) {
            NotificationText(.failed, NotificationGroup([task]), capabilities: ["body"])
        }
        #expect(text.summary == "<Download failed>")
        #expect(text.body == "<a private download>: <The server does not have the file>")
    }

    @Test(
        arguments: [
            (["body"], "<b>&</b>"), (["body", "body-markup"], "&lt;b&gt;&amp;&lt;/b&gt;"),
        ] as [(Set<String>, String)]
    )
    func `markup in a name is shown as text`(capabilities: Set<String>, body: String) {
        let text = NotificationText(.added, group(["<b>&</b>"]), capabilities: capabilities)
        #expect(text.body == body)
    }

    @Test func `a combining mark hides no markup`() {
        let escaped = NotificationText.escape("<\u{301}b>&\u{200D}")
        #expect(
            escaped.unicodeScalars.elementsEqual("&lt;\u{301}b&gt;&amp;\u{200D}".unicodeScalars)
        )
    }

    @Test func `without body support the title has the name`() {
        let text = NotificationText(.completed, group(["a.iso"]), capabilities: [])
        #expect(text.summary == "Download completed: a.iso")
        #expect(text.body.isEmpty)
    }

    @Test func `a long name is cut, and control characters become blanks`() {
        let name = "a\nb\u{0}" + String(repeating: "x", count: 5000)
        let text = NotificationText(.added, group([name]), capabilities: ["body"])
        #expect(text.body.hasPrefix("a b x"))
        #expect(text.body.unicodeScalars.count == 200)
    }

    @Test func `a task that ends twice is counted once`() {
        var group = group(["a", "b"])
        group.add(.sample("0", .completed, name: "c"))
        #expect(group.tasks.map(\.name) == ["b", "c"])
        #expect(group.count == 2)
    }

    @Test(arguments: [true, false])
    func `a summary offers the list only where a terminal can show it`(canShowList: Bool) {
        var summary = DesktopSummary()
        summary.downloading = 1
        let text = NotificationText(
            summary,
            active: [],
            capabilities: ["body", "actions"],
            canShowList: canShowList
        )
        let list = ["default", "Show List", "list", "Show List"]
        let buttons = ["folder", "Open Folder", "pause-all", "Pause All"]
        #expect(text.actions == (canShowList ? list : ["default", "Open Folder"]) + buttons)
    }
}
