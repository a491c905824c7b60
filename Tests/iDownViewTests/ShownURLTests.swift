// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

@Suite struct ShownURLTests {
    @Test(arguments: [
        ("https://example.org/a?token=geheim", "https://example.org/a"),
        ("https://example.org/a#geheim", "https://example.org/a"),
        ("https://me:geheim@example.org/a", "https://example.org/a"),
        ("https://me:ge/heim@example.org/a", "https://example.org/a"),
        ("me:geheim@example.org/a", "example.org/a"), ("geheim@://a", "://a"),
        ("https://me:ge#heim@example.org/a", "https://…"), ("me:ge?heim@example.org", "…"),
        ("me:geheim@", ""), ("seven", "seven"), ("", ""),
    ])
    func `a typed text is shown without parts that may be secret`(text: String, shown: String) {
        #expect(ShownURL(text).description == shown)
    }

    @Test func `a long text is cut`() {
        let shown = ShownURL(String(repeating: "x", count: 201)).description
        #expect(shown == String(repeating: "x", count: 200) + "…")
    }

    @Test(arguments: [
        ("https://me:geheim@example.org/@scope/a?geheim", "https://example.org/@scope/a"),
        ("https://example.org/@scope/a@1.tgz", "https://example.org/@scope/a@1.tgz"),
        ("https://example.org", "https://example.org"),
    ])
    func `a task's URL keeps its server and its path`(url: String, shown: String) {
        var task = TaskProperties()
        task.url = url
        #expect(ShownURL(of: task).description == shown)
    }
}
