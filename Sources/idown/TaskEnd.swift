// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// The end of a task that a command waited for: what the command says, and its exit code.
struct TaskEnd {
    /// The task at its end; nil if it was removed from the list.
    let task: TaskProperties?
    let id: String

    /// The message for the user; nil for a completed file.
    var complaint: String? {
        guard let task else { return "download \(id) was removed" }
        switch task.state {
        case .completed: return nil
        case .cancelled:
            return "download \(id) was cancelled; start it again with: idown resume \(id)"
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

    /// Tells what went wrong, and ends the command with the code of the first that failed.
    static func conclude(_ ends: [TaskEnd]) throws {
        for end in ends { end.complaint.map(Output.complain) }
        if let first = ends.first(where: { $0.status != .done }) { throw first.status.exit }
    }
}
