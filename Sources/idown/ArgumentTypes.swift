// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import iDownBus
import iDownView

/// A rate on the command line: `500k`, `2M`, `1.5GiB/s`, `off`.
struct RateArgument: ExpressibleByArgument {
    /// 0 for no limit.
    let bytesPerSecond: UInt64

    init?(argument: String) {
        guard let rate = Quantity.rate(argument) else { return nil }
        bytesPerSecond = rate
    }
}

/// A time on the command line: `90s`, `15m`, `2h`, `1d`, `forever`.
struct TimeArgument: ExpressibleByArgument {
    /// 0 for `forever`.
    let seconds: UInt64

    init?(argument: String) {
        guard let seconds = Quantity.seconds(argument) else { return nil }
        self.seconds = seconds
    }
}

/// The number of connections on the command line: a number, or `default`, which is 0.
struct ConnectionsArgument: ExpressibleByArgument {
    let count: UInt32

    init?(argument: String) {
        guard let count = argument == "default" ? 0 : UInt32(argument) else { return nil }
        self.count = count
    }
}

extension AddOptions.OnExisting: ExpressibleByArgument {}
extension AddOptions.WhenDone: ExpressibleByArgument {}
extension TaskQuery.Sort: ExpressibleByArgument {}

extension TaskProperties.State: ExpressibleByArgument {
    /// Reads a state that this version knows.
    public init?(argument: String) {
        let state = TaskProperties.State(rawValue: argument)
        guard Self.known.contains(state) else { return nil }
        self = state
    }

    /// The states, for help and completions.
    public static var allValueStrings: [String] { known.map(\.rawValue) }

    /// Completes the states.
    public static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}
