// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus

@testable import iDownView

@Suite struct TaskSummaryTests {
    @Test(arguments: [
        (TaskProperties.Hold.queue, "", "waits for a free slot"),
        (.retry, "HTTP 503", "tries again: HTTP 503"),
        (.offline, "", "waits for a network"),
        (.offline, "HTTP 503", "waits for a network"),
        (.metered, "", "waits for a network that is not metered"),
        (.battery, "", "waits for the battery to be charged"),
        (.space, "no space left", "waits for room on the disk"),
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
}
