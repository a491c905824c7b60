// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownSettings
import iDownState

// Answers at once, without a suspension, to calls that clients make all the time.
extension ManagerService {
    /// Returns a task if its record is in memory.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - id: The id.
    ///   - isObject: Whether the task's object is called; its caller then has to follow objects
    ///     already.
    /// - Returns: The task; nil where an answer needs a suspension.
    nonisolated func taskNow(_ call: Call, _ id: String, isObject: Bool) -> TaskProperties? {
        now { service in
            if isObject {
                guard let client = call.sender,
                    service.announcer.assumeIsolated({ $0.isWatched(by: client) })
                else { return nil }
            }
            guard let id = TaskID(TaskPath.id(meantBy: id)),
                let caller = service.callers.assumeIsolated({ $0.knownCaller(of: call) }),
                let task = service.coordinator.assumeIsolated({ $0.taskAtHand(id) })
            else { return nil }
            let properties = service.lastShown.properties(of: task)
            return caller.isRestricted ? properties.withoutQueries : properties
        }
    }

    /// Returns the value of a setting, without a password; nil where an answer needs a suspension.
    nonisolated func valueNow(of setting: Setting) -> Setting.Content? {
        // Not every caller may read the settings of Settings1.
        guard setting.place == .manager else { return nil }
        return now { service in service.folders.shown(setting, of: service.settings) }
    }

    /// Runs a body if the caller is on the service's thread; returns nil otherwise.
    private nonisolated func now<Value: Sendable>(
        _ body: (isolated ManagerService) -> Value?
    ) -> Value? {
        guard coordinator.executor.isIsolatingCurrentContext() == true else { return nil }
        return assumeIsolated(body)
    }
}

/// The properties of the task that was shown last, because a client that shows a task asks for one
/// property after another.
struct LastShown {
    private var last: (record: Shared<TaskRecord>, properties: TaskProperties)?

    /// Returns a task's properties; makes them anew for another record, and while the task has live
    /// state.
    mutating func properties(of task: TaskSnapshot) -> TaskProperties {
        guard task.live == nil, !task.isVerifying else { return TaskProperties(task) }
        if let last, last.record === task.sharedRecord { return last.properties }
        let properties = TaskProperties(task)
        last = (task.sharedRecord, properties)
        return properties
    }
}
