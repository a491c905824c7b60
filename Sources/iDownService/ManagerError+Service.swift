// SPDX-License-Identifier: Apache-2.0

import Curl
package import iDownBus
import iDownData
import iDownState
import iDownloader

extension ManagerError {
    /// The contract's name for anything that a request can end with.
    package init(_ error: any Error) {
        switch error {
        case let error as ManagerError: self = error
        case let refusal as ServiceRefusal: self.init(refusal)
        case Refusal.invalidState(let command, let state):
            self.init(.invalidState, "a task that is \(state) cannot \(command)")
        case Refusal.keepsURL(let state):
            self.init(.invalidState, "a task that is \(state) gets no other URL")
        case is Refusal:
            self.init(.invalidState, "the task is being finished; ask again")
        case StoreFailure.closed: self.init(ServiceRefusal.stopping)
        case let failure as StoreFailure:
            self.init(.storeFailed, "the list of tasks could not be written: \(failure)")
        case let failure as SettingsFailure:
            self.init(.storeFailed, "the settings could not be written: \(failure)")
        case let refusal as FolderRefusal:
            self.init(.invalidDestination, refusal.message)
        default:
            self.init(.failed, "an error that idown did not expect: \(type(of: error))")
        }
    }

    private init(_ refusal: ServiceRefusal) {
        switch refusal {
        case .noSuchTask(let id):
            self.init(.noSuchTask, "there is no task \(id); see the list of tasks")
        case .fileExists(let name):
            self.init(.fileExists, "a file named \(name) is there already")
        case .limitExceeded(let text):
            self.init(.limitExceeded, text)
        case .stopping:
            self.init(.stopping, "the service is ending; call again and it starts anew")
        }
    }
}
