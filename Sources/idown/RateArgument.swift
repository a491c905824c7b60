// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// A rate as it is typed: `500k`, `2M`, `1.5GiB/s`, `off`.
struct RateArgument: ExpressibleByArgument {
    let bytesPerSecond: UInt64

    init?(argument: String) {
        guard let rate = Quantity.rate(argument) else { return nil }
        bytesPerSecond = rate
    }
}
