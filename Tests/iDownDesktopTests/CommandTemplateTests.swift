// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownDesktop

@Suite struct CommandTemplateTests {
    private func fill(_ words: [String], path: String = "/d/a b", url: String = "http://e/")
        -> [String]
    {
        CommandTemplate(words: words).command(path: path, url: url)
    }

    @Test func `both are filled in, wherever they stand`() {
        #expect(
            fill(["mv", "{path}", "/x/{path}.{url}", "plain"])
                == ["mv", "/d/a b", "/x//d/a b.http://e/", "plain"]
        )
    }

    @Test func `what is filled in is not read again`() {
        #expect(fill(["{path}{url}"], path: "/{url}", url: "{path}") == ["/{url}{path}"])
    }

    @Test func `a shell's words are words`() {
        let path = "/d/$(rm -rf ~); `x` && \"'\n*"
        #expect(fill(["echo", "{path}"], path: path) == ["echo", path])
    }

    @Test(arguments: ["{", "{}", "{path", "{PATH}", "{{", "}", "", "{pa{path"])
    func `other braces stay`(word: String) {
        #expect(fill([word]) == [word])
    }

    @Test func `a brace before one that is filled in stays`() {
        #expect(fill(["{{path}}"]) == ["{/d/a b}"])
    }
}
