// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// What the user can do with a download of the live list.
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

    /// Returns the verb's title in a menu for downloads in these states; no states mean any state.
    package func title(in states: Set<TaskProperties.State> = []) -> String {
        switch self {
        case .pause: translated("Pause")
        case .resume: translated("Resume")
        case .retry: states == [.completed] ? translated("Download again") : translated("Retry")
        case .cancel: translated("Cancel and delete the partial file")
        case .remove where states.contains(where: TaskList.Filter.unfinished.takes):
            translated("Remove and delete the partial file")
        case .remove: translated("Remove from the list")
        case .trash: translated("Remove and move the file to the trash")
        case .open: translated("Open")
        case .reveal: translated("Show in folder")
        }
    }

    /// What happens while the verb is carried out.
    fileprivate var activity: String {
        switch self {
        case .pause: "Pausing"
        case .resume: "Resuming"
        case .retry: "Retrying"
        case .cancel: "Cancelling"
        case .remove, .trash: "Removing"
        case .open: "Opening"
        case .reveal: "Showing"
        }
    }

    /// Returns the verbs that apply in a state, in the order of the menu.
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

    /// Returns the verb of the Enter key: it pauses, resumes or retries the download, or opens its
    /// finished file; nil for an unknown state.
    package static func toggle(of state: TaskProperties.State) -> ListVerb? {
        switch state {
        case .waiting, .downloading: .pause
        case .paused, .cancelled: .resume
        case .failed: .retry
        case .completed: .open
        default: nil
        }
    }

    /// Whether the verb deletes something, so that the user is asked first.
    package var needsConsent: Bool {
        switch self {
        case .cancel, .remove, .trash: true
        case .pause, .resume, .retry, .open, .reveal: false
        }
    }
}

/// A request from the live list.
package enum ListRequest: Hashable, Sendable {
    /// Applies a verb to the tasks with these IDs.
    case verb(ListVerb, [String])
    /// Starts all paused and failed downloads.
    case startAll
    /// Pauses all waiting and running downloads.
    case pauseAll
    /// Removes completed downloads from the list.
    case clearCompleted
    /// Adds downloads.
    case add([String])
    /// Gets all properties of the task whose details are shown; signals leave some out.
    case details(String)
    /// Loads the list again.
    case reload
    /// Ends the live list.
    case quit

    /// What the screen says while the request is under way.
    package var title: String {
        switch self {
        case .verb(let verb, let ids):
            ids.count == 1
                ? "\(verb.activity) download \(ids[0])" : "\(verb.activity) \(ids.count) downloads"
        case .startAll: "Starting all downloads"
        case .pauseAll: "Pausing all downloads"
        case .clearCompleted: "Clearing completed downloads"
        case .add(let urls):
            urls.count == 1 ? "Adding a download" : "Adding \(urls.count) downloads"
        case .details(let id): "Loading the details of download \(id)"
        case .reload: "Loading the downloads"
        case .quit: "Quitting"
        }
    }
}
