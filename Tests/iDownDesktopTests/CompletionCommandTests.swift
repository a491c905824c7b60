// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@testable import iDownDesktop

@Suite(.timeLimit(.minutes(2))) struct CompletionCommandTests {
    @Test func `the user's command runs for each completed file, one at a time`() async throws {
        try await withTemporaryFolder { folder in
            let script = """
                mkdir '\(folder)/busy' || echo two-at-once >> '\(folder)/log'
                echo "$1 $2" >> '\(folder)/log'
                rmdir '\(folder)/busy'
                test "$1" != /d/2
                """
            let command = CompletionCommand(
                ["sh", "-c", script, "sh", "{path}", "{url}"],
                log: .quiet
            )
            var news = DesktopNews()
            for number in 1...3 {
                news.ended.append(.sample("\(number)", .completed, path: "/d/\(number)"))
            }
            news.ended.append(.sample("4", .failed))
            await command.receive(news)
            let url = "https://example.org/file.iso"
            try await soon("the log of three files") {
                (try? TestFile.text(of: folder + "/log"))
                    == "/d/1 \(url)\n/d/2 \(url)\n/d/3 \(url)\n"
            }
        }
    }
}

@Suite struct CommandTemplateTests {
    private func fill(_ words: [String], path: String = "/d/a b", url: String = "http://e/")
        -> [String]
    {
        CommandTemplate(words: words).command(path: path, url: url)
    }

    @Test func `both placeholders are replaced anywhere in a word`() {
        #expect(
            fill(["mv", "{path}", "/x/{path}.{url}", "plain"])
                == ["mv", "/d/a b", "/x//d/a b.http://e/", "plain"]
        )
    }

    @Test func `placeholders in inserted text are not replaced`() {
        #expect(fill(["{path}{url}"], path: "/{url}", url: "{path}") == ["/{url}{path}"])
    }

    @Test func `shell syntax in a path has no effect`() {
        let path = "/d/$(rm -rf ~); `x` && \"'\n*"
        #expect(fill(["echo", "{path}"], path: path) == ["echo", path])
    }

    @Test(arguments: ["{", "{}", "{path", "{PATH}", "{{", "}", "", "{pa{path"])
    func `other braces are kept`(word: String) {
        #expect(fill([word]) == [word])
    }

    @Test func `a brace before a placeholder is kept`() {
        #expect(fill(["{{path}}"]) == ["{/d/a b}"])
    }
}
