// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// What a command says, and which code it ends with, when tasks that it waited for have ended.
struct TaskEnd {
    /// nil once it was taken off the list.
    let task: TaskProperties?
    let id: String

    /// Nothing for a finished file.
    var complaint: String? {
        guard let task else { return "download \(id) was removed" }
        switch task.state {
        case .completed: return nil
        case .cancelled: return "download \(id) was cancelled; idown resume \(id) starts it"
        default:
            let name = TaskSummary(task, hidesSecrets: true).name
            return "\(name): \(task.errorCode): \(task.errorMessage)"
                + " To try again: idown retry \(id)"
        }
    }

    var status: ExitStatus {
        guard let task else { return .abandoned }
        switch task.state {
        case .completed: return .done
        case .cancelled: return .abandoned
        default: return ExitStatus(errorCode: task.errorCode)
        }
    }

    /// Says what went wrong and ends with the code of the first that did.
    static func conclude(_ ends: [TaskEnd]) throws {
        for end in ends { end.complaint.map(Output.complain) }
        if let first = ends.first(where: { $0.status != .done }) { throw first.status.exit }
    }
}
