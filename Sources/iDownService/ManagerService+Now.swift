// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownSettings
import iDownState

// What is at hand, for what clients ask all the time.
extension ManagerService {
    /// Returns a task.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - id: The id.
    ///   - isObject: Whether the task's object is asked: its caller is to hear of objects then.
    /// - Returns: The task, or nil.
    nonisolated func taskNow(
        _ call: Call,
        _ id: String,
        isObject: Bool
    ) -> TaskProperties? {
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

    /// Returns the value of a setting, without a password, or nil.
    nonisolated func valueNow(of setting: Setting) -> Setting.Content? {
        // Those of Settings1 are not for everybody.
        guard setting.place == .manager else { return nil }
        return now { service in service.folders.shown(setting, of: service.settings) }
    }

    /// Runs a body if the caller is on the service's thread; else gives nil.
    private nonisolated func now<Value: Sendable>(
        _ body: (isolated ManagerService) -> Value?
    ) -> Value? {
        guard coordinator.executor.isIsolatingCurrentContext() == true else { return nil }
        return assumeIsolated(body)
    }
}

/// What the task tells that was shown last: a client that shows it asks for one property after
/// another.
struct LastShown {
    private var last: (record: Shared<TaskRecord>, properties: TaskProperties)?

    /// What a task tells; made anew for another record, and while something of the task runs.
    mutating func properties(of task: TaskSnapshot) -> TaskProperties {
        guard task.live == nil, !task.isVerifying else { return TaskProperties(task) }
        if let last, last.record === task.sharedRecord { return last.properties }
        let properties = TaskProperties(task)
        last = (task.sharedRecord, properties)
        return properties
    }
}
