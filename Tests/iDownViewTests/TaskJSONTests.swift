// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

@Suite struct TaskJSONTests {
    @Test func `the keys are the names of the properties`() throws {
        let text = try JSONText.of(TaskJSON(.finished))
        for property in TaskProperty.allCases {
            #expect(text.contains("\"\(property.rawValue)\" : "), "\(property)")
        }
    }

    @Test func `the same task gives the same bytes`() throws {
        let text = try JSONText.of([TaskJSON(.running)])
        #expect(try JSONText.of([TaskJSON(.running)]) == text)
        #expect(text.contains("\"URL\" : \"https://example.org/disk.iso?key=1\""))
        #expect(text.contains("\"DownloadedBytes\" : 52428800"))
        #expect(text.contains("\"Resumable\" : true"))
    }

    @Test func `the tasks of a metalink are an array, and separated by commas in a template`()
        throws
    {
        var task = TaskProperties()
        #expect(try JSONText.of(TaskJSON(task, only: [.listedTasks])).contains("[\n\n  ]"))
        task.listedTasks = ["9", "10"]
        let text = try JSONText.of(TaskJSON(task, only: [.listedTasks]))
        #expect(text.filter { !$0.isWhitespace } == #"{"ListedTasks":["9","10"]}"#)
        #expect(try TaskTemplate("{ListedTasks}").text(of: task) == "9,10")
        #expect(try TaskTemplate("{ListedTasks}").text(of: .running) == "")
    }

    @Test func `numbers that JSON cannot express are unknown, −1`() throws {
        var task = TaskProperties()
        task.progress = .nan
        #expect(try JSONText.of(TaskJSON(task)).contains("\"Progress\" : -1"))
    }

    @Test func `numbers keep all their digits`() throws {
        var task = TaskProperties()
        task.downloadedBytes = .max
        task.totalBytes = .max
        let text = try JSONText.of(TaskJSON(task))
        #expect(text.contains("18446744073709551615"))
        #expect(text.contains("9223372036854775807"))
    }

    @Test func `control characters are escaped`() throws {
        var task = TaskProperties()
        task.fileName = "a\u{1B}[31m\"\n"
        #expect(try JSONText.of(TaskJSON(task)).contains(#""a\u001b[31m\"\n""#))
    }
}
