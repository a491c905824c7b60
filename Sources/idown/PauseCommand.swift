// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// `idown pause`: stops tasks and keeps their bytes.
struct PauseCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pauses downloads and keeps their partial files.",
        discussion: """
            A download that is waiting or downloading can be paused. Continue it with: idown resume

            Examples:
              idown pause 7
              idown pause 3-7 12
              idown pause waiting
            """
    )

    static let verb = ListVerb.pause
    static let participle = "paused"

    @OptionGroup var change: ChangeArguments
}
