// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

struct TaskTemplateTests {
    private func text(_ template: String, _ task: TaskProperties = .running) throws -> String {
        try TaskTemplate(template).text(of: task)
    }

    @Test func `fields are properties and texts for people`() throws {
        #expect(try text("{Id}\\t{State}") == "7\tdownloading")
        #expect(
            try text("{Percent} {Size} {Rate} {Left} {Name}")
                == "25% 200.0 MiB 2.0 MiB/s 1m15s disk.iso"
        )
        #expect(try text("{{{DownloadedBytes}}}") == "{52428800}")
        #expect(try text("{Reason}", .broken) == "Server.NotFound: the server answered HTTP 404")
        #expect(try text("") == "")
    }

    @Test(arguments: [("{Path}\\0", true), ("{Path}", false), ("\\0{Path}", false), ("", false)])
    func `a NUL at the end stands for the line feed`(template: String, endsInNUL: Bool) throws {
        #expect(try TaskTemplate(template).endsInNUL == endsInNUL)
        var task = TaskProperties()
        task.path = "/a\nb"
        // Only a NUL cannot be part of a path.
        let text = try TaskTemplate(template).text(of: task)
        #expect(text.contains("/a\nb") == endsInNUL)
    }

    @Test func `every property has a text`() throws {
        for field in TaskTemplate.fields { _ = try text("{\(field)}") }
    }

    @Test func `numbers are the same in every locale, and a value cannot end the line`() throws {
        var task = TaskProperties.running
        task.errorMessage = "a\nb"
        try ByteCount.$decimalSign.withValue(",") { () throws in
            let size = try text("{Size}")
            #expect(size == "200.0 MiB")
            #expect(ByteCount(1536).description == "1,5 KiB")
        }
        #expect(try text("{ErrorMessage}", task) == "a\u{FFFD}b")
    }

    @Test func `programs get names unchanged, terminals get harmless characters`() throws {
        var task = TaskProperties.running
        task.fileName = "a\u{AD}b\u{202E}c"
        for field in ["{FileName}", "{Name}"] {
            let template = try TaskTemplate(field)
            #expect(template.text(of: task, for: .program) == task.fileName)
            #expect(template.text(of: task, for: .terminal) == "a\u{FFFD}b\u{FFFD}c")
        }
    }

    @Test(arguments: ["{", "}", "{Nothing}", "{Id", "\\x", "\\", "{id}"])
    func `a template with a mistake is refused`(template: String) {
        #expect(throws: TaskTemplate.Mistake.self) { try TaskTemplate(template) }
    }
}
