// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// `idown cancel`: stops tasks and deletes their partial files.
struct CancelCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels downloads and deletes their partial files.",
        discussion: """
            Cancelled downloads stay in the list; idown resume starts them from the beginning. A \
            completed download cannot be cancelled.

            At a terminal it asks before it cancels more than one unfinished download.

            Examples:
              idown cancel 7
              idown cancel failed
              idown cancel --dry-run all
              idown cancel -y all
            """
    )

    static let verb = ListVerb.cancel
    static let participle = "cancelled"

    @OptionGroup var change: ChangeArguments

    @OptionGroup var agreement: ConsentArguments

    var consent: ConsentArguments? { agreement }
}
