// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// What can be done to a download from the list.
package enum ListVerb: String, CaseIterable, Hashable, Sendable {
    case pause
    case resume
    case retry
    case cancel
    case remove
    case trash
    /// Opens the finished file with the desktop's program.
    case open
    /// Shows the finished file in its folder.
    case reveal

    /// What it is called.
    package var title: String {
        switch self {
        case .pause: "Pause"
        case .resume: "Resume"
        case .retry: "Retry"
        case .cancel: "Cancel, delete partial data"
        case .remove: "Remove from the list"
        case .trash: "Remove, file to the trash"
        case .open: "Open"
        case .reveal: "Show in folder"
        }
    }

    /// The verbs that a task in this state can take, in the order of a menu.
    package static func verbs(for state: TaskProperties.State) -> [ListVerb] {
        switch state {
        case .waiting: [.pause, .retry, .cancel, .remove]
        case .downloading: [.pause, .cancel, .remove]
        case .paused: [.resume, .cancel, .remove]
        case .failed: [.retry, .cancel, .remove]
        case .cancelled: [.resume, .remove]
        case .completed: [.open, .reveal, .retry, .remove, .trash]
        default: [.remove]
        }
    }

    /// What Enter does: pauses what runs, resumes what is paused, retries what failed, and opens the
    /// finished file.
    package static func toggle(of state: TaskProperties.State) -> ListVerb? {
        switch state {
        case .waiting, .downloading: .pause
        case .paused, .cancelled: .resume
        case .failed: .retry
        case .completed: .open
        default: nil
        }
    }

    /// Whether something is lost by it, so that it is asked about first.
    package var needsConsent: Bool {
        switch self {
        case .cancel, .remove, .trash: true
        case .pause, .resume, .retry, .open, .reveal: false
        }
    }
}

/// What the list asks of the service.
package enum ListRequest: Hashable, Sendable {
    /// A verb for tasks, named by their ids.
    case verb(ListVerb, [String])
    /// Everything paused or failed goes back to waiting.
    case startAll
    /// Everything that waits or downloads is paused.
    case pauseAll
    /// Completed tasks leave the list.
    case clearCompleted
    /// New downloads.
    case add([String])
    /// What signals leave out of the task whose details are shown.
    case details(String)
    /// The list once more.
    case reload
    /// No more looking.
    case quit

    /// What is said while it is under way.
    package var title: String {
        switch self {
        case .verb(let verb, let ids):
            ids.count == 1
                ? "\(verb.rawValue) \(ids[0])" : "\(verb.rawValue) \(ids.count) downloads"
        case .startAll: "start all"
        case .pauseAll: "pause all"
        case .clearCompleted: "clear completed"
        case .add(let urls): urls.count == 1 ? "add" : "add \(urls.count) downloads"
        case .details(let id): "look at \(id)"
        case .reload: "load the list"
        case .quit: "quit"
        }
    }
}
