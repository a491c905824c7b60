// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// The actions on a row: the verbs of the terminal's list, and those that only the window has.
enum RowVerb: String, CaseIterable {
    case pause, resume, retry, cancel, remove, trash, open, reveal
    case copyLink = "copy-link"
    case freshLink = "fresh-link"
    case verify
    case edit
    case details

    /// The same verb of the terminal's list; nil if only the window has it.
    var verb: ListVerb? { ListVerb(rawValue: rawValue) }

    func title(in states: Set<TaskProperties.State>) -> String {
        if let verb { return verb.title(in: states) }
        return switch self {
        case .copyLink: translated("Copy Link")
        case .freshLink: translated("Give a Fresh Link…")
        case .verify: translated("Check the File")
        case .edit: translated("Change…")
        default: translated("Details")
        }
    }

    /// The verbs for a download, in the order of the menu.
    static func verbs(for task: TaskProperties) -> [RowVerb] {
        var verbs = ListVerb.verbs(for: task.state).compactMap { RowVerb(rawValue: $0.rawValue) }
        verbs.append(.copyLink)
        switch task.state {
        case .completed: verbs.append(.verify)
        case .cancelled: break
        default: verbs.append(.freshLink)
        }
        return verbs + [.edit, .details]
    }

    /// Returns the verbs that at least one of these downloads allows.
    ///
    /// Retry of completed downloads is offered only for a single one.
    static func verbs(for tasks: [TaskProperties]) -> Set<RowVerb> {
        Set(
            tasks.flatMap { task in
                let isAlone = tasks.count == 1
                return verbs(for: task).filter {
                    isAlone || $0 != .retry || task.state != .completed
                }
            }
        )
    }
}
