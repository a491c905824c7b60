// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownSettings
import iDownView

/// What is said in another language than English: here each text stands in angle brackets.
struct WordingTests {
    private static let wording = Wording(
        text: { "<\($0)>" },
        plural: { "<\($2 == 1 ? $0 : $1)>" },
        groupSign: "."
    )

    private func inOtherLanguage<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
        try ByteCount.$decimalSign.withValue(",") {
            try Wording.$current.withValue(Self.wording, operation: body)
        }
    }

    @Test(
        arguments: [
            (0, "0"), (999, "999"), (1000, "1.000"), (12_345, "12.345"), (1_234_567, "1.234.567"),
        ] as [(UInt, String)]
    )
    func `thousands of a count are grouped as the language does`(count: UInt, text: String) {
        #expect(inOtherLanguage { shown(count) } == text)
        #expect(inOtherLanguage { counted("{count} file", "{count} files", count) }.contains(text))
        #expect(shown(count) == "\(count)")
    }

    @Test func `words of settings are those of the language, and both are read`() {
        inOtherLanguage {
            #expect(Quantity.text(ofRate: 0) == "<off>")
            for text in ["<off>", "off"] { #expect(Quantity.rate(text) == 0) }
            for text in ["1,5M", "1.5M"] { #expect(Quantity.rate(text) == 3 << 19) }
            for text in ["<forever>", "forever"] {
                #expect(Quantity.days(text) == 0)
                #expect(Quantity.seconds(text) == 0)
            }
            #expect(SettingName.text(of: .number(0), .keepCompleted) == "<forever>")
            #expect(SettingName.text(of: .text(""), .proxy) == "<none>")
            for text in ["<none>", "none"] {
                #expect(SettingName.content(text, of: .proxy) == .text(""))
                #expect(SettingName.content(text, of: .cookieFile) == .text(nil))
                #expect(SettingName.content(text, of: .browserTypes) == .words([]))
            }
        }
        #expect(Quantity.rate("1,5M") == nil)
    }

    @Test func `a failure is told in English as the service does, else by its code`() {
        var task = TaskProperties()
        task.state = .failed
        task.errorCode = "Server.NotFound"
        task.errorMessage = "The server answered 404."
        func told() -> String? {
            TaskDetails.facts(task) { "\($0)" }.first { $0.title.contains("Error") }?.text
                .description
        }
        #expect(told() == "The server answered 404.")
        // The message tells what no sentence can, such as numbers.
        let both = "<The server does not have the file>. The server answered 404."
        #expect(inOtherLanguage(told) == both)
    }

    @Test func `the command tells the code and the remedy, windows tell neither`() {
        var task = TaskProperties()
        task.id = "2"
        task.state = .failed
        task.errorCode = "Server.NotFound"
        let text = "The server answered HTTP 404. Check the URL, or give a fresh link"
        task.errorMessage = "\(text) with `idown edit 2 --url URL`."
        let lines = TaskDetails(task, style: .plain) { "\($0)" }.lines
        #expect(lines.contains { $0.hasSuffix("Server.NotFound: \(task.errorMessage)") })
        let told = TaskDetails.facts(task) { "\($0)" }
        #expect(told.first { $0.title == "Error" }?.text.description == text + ".")
        #expect(told.first { $0.title == "State" }?.text.description == "Failed")
    }

    @Test(arguments: [
        "Look at its log with `idown service logs`, or start it anew with `idown service restart`.",
        "Store a login with `idown login URL`.",
    ])
    func `windows tell a command where they offer nothing in its place`(remedy: String) {
        #expect(ManagerError(.noReply, remedy).text == remedy)
        var task = TaskProperties()
        (task.state, task.errorCode) = (.failed, "Server.AuthRequired")
        task.errorMessage = remedy
        let told = TaskDetails.facts(task) { "\($0)" }
        #expect(told.first { $0.title == "Error" }?.text.description == remedy)
    }

    @Test(arguments: ManagerError.Code.allCases)
    func `each error of the service has a sentence in every language`(code: ManagerError.Code) {
        let error = ManagerError(code, "Server.Busy: in English")
        // Who sees a list knows no ids, and no codes of failures.
        switch code {
        case .noSuchTask: #expect(error.text == "This download is no longer in the list.")
        case .requestFailed: #expect(error.text == "in English")
        default: #expect(error.text == "Server.Busy: in English")
        }
        let text = inOtherLanguage { error.text }
        #expect(text.hasPrefix("<") && text.hasSuffix(">"))
        #expect(!text.contains("in English"))
        // Only an error without a meaning of its own is told by its name.
        #expect(text.contains("met an error") == (code == .failed))
    }

    @Test func `every kind of history entry is a sentence`() {
        let details: [String: Value] = [
            "host": .string("a.example"), "first": .int64(3 << 19), "bytes": .int64(1 << 20),
            "attempt": .int64(2), "status": .int64(206), "source": .int64(1),
            "error": .string("Network.DNS"), "at": .int64(5), "why": .string("offline"),
        ]
        func sentence(_ what: String, _ more: [String: Value] = [:]) -> String {
            HistoryEntry(time: 1, connection: 0, what: what, details: details.merging(more) { $1 })
                .sentence
        }
        #expect(sentence("started") == "Attempt 2 begins with 1.0 MiB")
        #expect(
            sentence("started", ["cookies": .string("missing")])
                == "Attempt 2 begins with 1.0 MiB; the cookie file cannot be read"
        )
        #expect(sentence("asked") == "Asks a.example for all after 1.5 MiB")
        #expect(
            sentence("asked", ["via": .string("p:1")])
                == "Asks a.example for all after 1.5 MiB, through p:1"
        )
        #expect(sentence("failed") == "The server's name was not found")
        #expect(sentence("stopped") == "Stopped: Waits for a network")
        #expect(sentence("source", ["anew": .boolean(true)]) == "Asks mirror 1, from the beginning")
        #expect(sentence("of a later version") == "of a later version")
        let decisions = [
            "begin", "resume", "compare", "prove", "check", "complete", "ask-again", "redirect",
            "fail",
        ]
        let kinds = [
            "started", "asked", "differs", "proven", "refused", "ended", "source", "verified",
            "failed", "stopped",
        ]
        inOtherLanguage {
            for decision in decisions {
                #expect(sentence("answered", ["decision": .string(decision)]).hasPrefix("<"))
            }
            for kind in kinds { #expect(sentence(kind).hasPrefix("<")) }
        }
    }

    @Test func `a report on browsers is read and told`() throws {
        let json = """
            [{"Browser":"Firefox","Extension":"","Folder":"","Host":"/h","Kind":"system"}]
            """
        let reports = try #require(BrowserReport.all(in: json))
        #expect(
            BrowserReport.text(of: reports)
                == "Firefox: the extension is missing; the package idown-browser has it"
        )
        #expect(BrowserReport.all(in: "idown: no such option") == nil)
        let text = inOtherLanguage { BrowserReport.text(of: []) }
        #expect(text == "<No browser was found that idown knows.>")
    }
}
