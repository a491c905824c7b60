// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// How many connections a download may have, as it is typed: a number, or `default`, which is 0.
struct ConnectionsArgument: ExpressibleByArgument {
    let count: UInt32

    init?(argument: String) {
        guard let count = argument == "default" ? 0 : UInt32(argument) else { return nil }
        self.count = count
    }
}
