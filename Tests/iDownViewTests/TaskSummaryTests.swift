// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus

@testable import iDownView

@Suite struct TaskSummaryTests {
    @Test(arguments: [
        (TaskProperties.Hold.queue, "", "waits for a free slot"),
        (.retry, "HTTP 503", "tries again: HTTP 503"),
        (.retry, "", "tries again later"),
        (.offline, "", "waits for a network"),
        (.offline, "HTTP 503", "waits for a network"),
        (.metered, "", "waits for a network that is not metered"),
        (.battery, "", "waits for the battery to be charged"),
        (.space, "no space left", "waits for room on the disk"),
        (.settings, "", "waits for the settings to be mended"),
        (TaskProperties.Hold(rawValue: "weather"), "", ""),
    ])
    func `a waiting download tells what it waits for`(
        _ hold: TaskProperties.Hold,
        _ message: String,
        _ reason: String
    ) {
        var task = TaskProperties()
        task.hold = hold
        task.errorMessage = message
        #expect(TaskSummary(task).reason.description == reason)
    }

    @Test(arguments: [TaskProperties.State.downloading, .paused])
    func `a download tells that its file could not be moved, and no older error`(
        state: TaskProperties.State
    ) {
        var task = TaskProperties()
        task.state = state
        task.errorCode = "Network.Reset"
        task.errorMessage = "The connection broke."
        #expect(TaskSummary(task).reason.description == "")
        task.errorCode = "File.NoSpace"
        task.errorMessage = "The disk is full. The file stays in its old folder."
        #expect(TaskSummary(task).reason.description == "File.NoSpace: \(task.errorMessage)")
        #expect(TaskSummary(task).shortReason.description == task.errorMessage)
    }

    @Test(arguments: [
        ("https://example.org/a/disk.iso?key=1", "disk.iso"),
        ("https://example.org/%E6%97%A5.zip", "日.zip"),
        ("https://example.org/100%", "100%"), ("https://example.org/%FF", "%FF"),
        ("https://example.org/", "https://example.org/"),
        ("https://example.org", "https://example.org"),
        ("https://example.org/a%1B", "a\u{FFFD}"), ("https://example.org/%+1", "%+1"),
    ])
    func `without a file name the short name is the last part of the URL`(url: String, name: String)
    {
        var task = TaskProperties()
        task.url = url
        #expect(TaskSummary(task).shortName.description == name)
        task.fileName = "x"
        #expect(TaskSummary(task).shortName.description == "x")
    }
}
