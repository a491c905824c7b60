// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Prints how many downloads a command for all downloads has changed.
struct CountOutput: ParsableArguments {
    @Flag(help: "Print a JSON object with the key count.")
    var json = false

    func print(_ count: UInt32) throws {
        if json { try Output.json(["count": count]) } else { try Output.data("\(count)") }
    }
}
