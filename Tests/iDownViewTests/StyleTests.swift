// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

@Suite struct StyleTests {
    private let colored = Style(isColored: true)

    @Test(arguments: [
        (TaskProperties.State.downloading, "\u{1B}[32mx\u{1B}[0m"),
        (.paused, "\u{1B}[34mx\u{1B}[0m"),
        (.failed, "\u{1B}[31mx\u{1B}[0m"),
        (.completed, "x"),
        (.waiting, "x"),
        (.cancelled, "\u{1B}[2mx\u{1B}[0m"),
        (.init(rawValue: "from the future"), "x"),
    ])
    func `each state has its colour`(state: TaskProperties.State, text: String) {
        #expect(colored.paint("x", Style.Ink(state)) == text)
    }

    @Test func `without colours nothing is added`() {
        #expect(Style.plain.paint("x", .red) == "x")
        #expect(colored.paint("", .red) == "")
    }
}
