// SPDX-License-Identifier: Apache-2.0

package import iDownBus

extension TaskList {
    /// Selects downloads by their states.
    package enum Filter: Hashable, Sendable {
        case all
        /// All but completed and cancelled downloads.
        case unfinished
        case only(TaskProperties.State)

        /// All filters, in the order in which the key goes through them.
        package static let known: [Filter] =
            [.all, .unfinished] + TaskProperties.State.known.map { .only($0) }

        /// The next filter; after the last comes the first.
        package var next: Filter {
            let known = Self.known
            let place = known.firstIndex(of: self) ?? known.count - 1
            return known[(place + 1) % known.count]
        }

        /// The name on the screen.
        package var name: String {
            switch self {
            case .all: "all"
            case .unfinished: "unfinished"
            case .only(let state): state.rawValue
            }
        }

        /// The states that are shown, for a query; empty for all.
        package var states: [TaskProperties.State] {
            self == .all ? [] : TaskProperties.State.known.filter(takes)
        }

        /// Whether downloads in this state are shown.
        package func takes(_ state: TaskProperties.State) -> Bool {
            switch self {
            case .all: true
            case .unfinished: state != .completed && state != .cancelled
            case .only(let wanted): state == wanted
            }
        }
    }
}
