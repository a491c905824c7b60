// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown resume`: puts tasks back into the queue.
struct ResumeCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resumes paused, failed and cancelled downloads.",
        discussion: """
            They join the queue and start when a slot is free. To download a completed file again, \
            use: idown retry

            Examples:
              idown resume 7
              idown resume failed paused
            """
    )

    static let verb = ListVerb.resume
    static let participle = "resumed"

    @OptionGroup var change: ChangeArguments

    func changes(_ task: TaskProperties) -> Bool {
        [.paused, .failed, .cancelled].contains(task.state)
    }
}
