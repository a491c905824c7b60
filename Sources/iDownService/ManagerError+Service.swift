// SPDX-License-Identifier: Apache-2.0

import Curl
package import iDownBus
import iDownData
import iDownState
import iDownloader

extension ManagerError {
    /// Gives any error of a request its name in the contract.
    package init(_ error: any Error) {
        switch error {
        case let error as ManagerError: self = error
        case let refusal as ServiceRefusal: self.init(refusal)
        case Refusal.invalidState(let command, let state):
            self.init(.invalidState, Self.text(command, refusedIn: state))
        case Refusal.keepsOption(.url, let state):
            self.init(
                .invalidState,
                "The task is \(state), so its URL cannot change. Add the new URL as a new task."
            )
        case Refusal.keepsOption(let option, let state):
            self.init(.invalidState, "The task is \(state), so \(option.rawValue) cannot change.")
        case Refusal.unfinished(let state):
            self.init(
                .invalidState,
                "The task is \(state). Only a completed task has a finished file."
            )
        case Refusal.moving:
            self.init(
                .invalidState,
                "The task's file is being moved. Try again when it is in its new place."
            )
        case Refusal.deleting:
            self.init(
                .invalidState,
                "The task's partial file is being deleted. Try again in a moment."
            )
        case is Refusal:
            self.init(.invalidState, "The task is just being finished. Try again in a moment.")
        case StoreFailure.closed: self.init(ServiceRefusal.stopping)
        case let failure as StoreFailure:
            self.init(
                .storeFailed,
                "Nothing was changed: the list of tasks could not be read or written (\(failure))."
            )
        case let failure as SettingsFailure:
            self.init(
                .storeFailed,
                "Nothing was changed: the settings could not be written (\(failure))."
            )
        case let refusal as FolderRefusal:
            self.init(.invalidDestination, refusal.message)
        case let failure as Failure:
            self.init(.requestFailed, "\(failure.code.rawValue): \(failure.messageWithoutTask)")
        case let error as FileError: self.init(.invalidDestination, error.failure.message)
        case let full as FileFeeds.Full:
            self.init(
                .limitExceeded,
                "Too many files are being read: at most \(full.limit) at a time."
            )
        default:
            self.init(
                .failed,
                "idown met an error that it did not expect: \(type(of: error)). Please report it."
            )
        }
    }

    private static func text(_ command: Command, refusedIn state: TaskState.Kind) -> String {
        switch command {
        case .resume: "The task is \(state). Retry downloads it again."
        case .cancel: "The task is \(state). Remove takes it off the list."
        case .pause, .retry, .remove:
            "The task is \(state), so there is nothing to \(command)."
        }
    }

    private init(_ refusal: ServiceRefusal) {
        switch refusal {
        case .noSuchTask(let id):
            self.init(.noSuchTask, "There is no task \(id). The list of tasks shows the ids.")
        case .fileExists(let name):
            self.init(
                .fileExists,
                "\(name), or \(name).part, is already in the folder. Choose another name."
            )
        case .staysInPlace(let failure, let name):
            switch failure.code {
            case .fileExists:
                self.init(
                    .fileExists,
                    "A file with the new name, or its .part file, already exists. \(name) stays"
                        + " where it is."
                )
            case .fileVanished: self.init(.invalidState, failure.message)
            default: self.init(.invalidDestination, failure.message)
            }
        case .diskIsStuck:
            self.init(.invalidDestination, "The folder's disk does not answer. Try again later.")
        case .limitExceeded(let text):
            self.init(.limitExceeded, text)
        case .noSuchHandOver:
            self.init(
                .noSuchTask,
                "Nothing is handed over under this token. Hand the download over first."
            )
        case .withdrawn:
            self.init(
                .invalidState,
                "This hand-over was withdrawn. Hand the download over again with another token."
            )
        case .disagreed(let reason):
            self.init(.disagreed, "\(reason) Nothing was added: let the browser go on.")
        case .stopping:
            self.init(
                .stopping,
                "The service is ending, and nothing was changed. Call again once it has ended."
            )
        }
    }
}
