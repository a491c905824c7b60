// SPDX-License-Identifier: Apache-2.0

import Testing
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
            await command.take(news)
            let url = "https://example.org/file.iso"
            try await soon("all to be told") {
                (try? TestFile.text(of: folder + "/log"))
                    == "/d/1 \(url)\n/d/2 \(url)\n/d/3 \(url)\n"
            }
        }
    }
}
