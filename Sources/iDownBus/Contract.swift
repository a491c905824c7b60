// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The names and limits of the D-Bus interface that every client of idown may rely on.
///
/// The files `org.idown.*.xml` in the folder `dbus` describe them.
public enum Contract {
    /// The version of idown in this build, and the value of the property `Version`.
    public static let version = "0.2.0"

    /// The name that the service owns on the session bus.
    public static let busName: BusName = "org.idown.Manager1"

    /// The object of the service as a whole.
    public static let managerPath: ObjectPath = "/org/idown/Manager1"

    /// The interface of the object at ``managerPath``.
    public static let managerInterface: InterfaceName = "org.idown.Manager1"

    /// The interface of the settings that ``managerInterface`` does not have, also at
    /// ``managerPath``.
    public static let settingsInterface: InterfaceName = "org.idown.Settings1"

    /// The activation token in the platform data of `org.freedesktop.Application`.
    package static let activationToken = "activation-token"

    /// The interface by which desktops hand over links, also at ``managerPath``.
    public static let applicationInterface: InterfaceName = "org.freedesktop.Application"

    /// The interface of every task's object, below ``TaskPath/parent``.
    public static let taskInterface: InterfaceName = "org.idown.Task1"

    /// The longest URL, in bytes.
    public static let maximumURLBytes = 64 << 10

    /// The most URLs in one call of AddURLs, and the most tasks in one call of AddMany.
    public static let maximumURLs = 100_000

    /// The range of the option `connections`.
    public static let connections: ClosedRange<UInt32> = 1...16

    /// The range of a task's MaxConnections, where 0 means MaxConnectionsPerDownload.
    public static let maxConnections: ClosedRange<UInt32> = 0...connections.upperBound

    /// The range of a task's SpeedLimit and of the option `speed-limit`, in bytes per second; 0
    /// means no limit.
    public static let speedLimit: ClosedRange<UInt64> = 0...UInt64(Int64.max)

    /// The range of the option `retry-for`, in seconds; 0 means without limit.
    public static let retryFor: ClosedRange<UInt64> = 0...UInt64(UInt32.max)

    /// The default of the setting `RetryFor`, in seconds: 24 hours.
    public static let usualRetryFor: UInt64 = 86_400

    /// The most URLs in the option `mirrors`.
    public static let maximumMirrors = 100

    /// The most bytes of all URLs in the option `mirrors`: 1 MiB.
    public static let maximumMirrorBytes = 1 << 20

    /// The answer of Wait if the task was removed.
    public static let removed = "removed"

    /// The most tasks that one client, and that all clients together, may wait for with Wait.
    public static let pendingWaits = (client: 1_000, all: 10_000)

    /// The most tasks that a sandboxed application may wait for, over all its connections.
    public static let pendingWaitsOfApplication = 1_000

    /// The most pending calls of Wait of one client for one task.
    public static let waitsForOneTask = 16

    /// The most pending calls of Verify, of a sandboxed application and of all clients together.
    public static let pendingVerifications = (application: 100, all: 1_000)

    /// The most pending calls of Probe, of one client and of all clients together.
    public static let pendingProbes = (client: 4, all: 16)

    /// The most tasks in an answer of FindTasks without a limit.
    public static let pageOfTasks: UInt32 = 1_000

    /// The most bytes of tasks in an answer of GetChangesSince.
    public static let pageOfChanges = 2 << 20

    /// The most tasks in the list.
    public static let maximumTasks = 1_000_000

    /// The most tasks of a sandboxed application in the list.
    public static let maximumTasksOfApplication = 10_000

    /// The longest answer with tasks, in bytes; an array in a D-Bus message may have 64 MiB.
    public static let maximumListBytes = 60 << 20
}

extension Contract {
    /// The methods of the manager's interface, apart from those of ``TaskMethod``.
    public enum Method {
        /// Adds a download.
        public static let addURL: MemberName = "AddURL"
        /// Adds a download with options.
        public static let addURLWithOptions: MemberName = "AddURLWithOptions"
        /// Adds several downloads, or none.
        public static let addURLs: MemberName = "AddURLs"
        /// Adds several downloads, each with its own options, or none.
        public static let addMany: MemberName = "AddMany"
        /// Adds the files that a local metalink lists, or none.
        public static let addMetalink: MemberName = "AddMetalink"
        /// Asks a server about a file without adding it.
        public static let probe: MemberName = "Probe"
        /// Adds a provisional task for a download that a browser has begun; Confirm or Withdraw
        /// follows.
        public static let handOver: MemberName = "HandOver"
        /// Turns a handed-over download into a normal task.
        public static let confirm: MemberName = "Confirm"
        /// Removes a handed-over download.
        public static let withdraw: MemberName = "Withdraw"
        /// Puts every paused or failed task back into the queue.
        public static let startAll: MemberName = "StartAll"
        /// Pauses every waiting or downloading task.
        public static let pauseAll: MemberName = "PauseAll"
        /// Resumes several tasks.
        public static let startTasks: MemberName = "StartTasks"
        /// Pauses several tasks.
        public static let pauseTasks: MemberName = "PauseTasks"
        /// Cancels several tasks.
        public static let cancelTasks: MemberName = "CancelTasks"
        /// Removes several tasks from the list.
        public static let removeTasks: MemberName = "RemoveTasks"
        /// Removes all completed tasks from the list.
        public static let clearCompleted: MemberName = "ClearCompleted"
        /// Gives a task a fresh link.
        public static let setURL: MemberName = "SetURL"
        /// Changes options of a task.
        public static let setOptions: MemberName = "SetOptions"
        /// Reads a finished file again and compares it with its known digest or length.
        public static let verify: MemberName = "Verify"
        /// Opens the file of a task for reading.
        public static let openFile: MemberName = "OpenFile"
        /// Changes the place of a task in the queue.
        public static let setPriority: MemberName = "SetPriority"
        /// Returns one task.
        public static let getTask: MemberName = "GetTask"
        /// Returns several tasks.
        public static let getTasks: MemberName = "GetTasks"
        /// Returns all tasks.
        public static let listTasks: MemberName = "ListTasks"
        /// Returns a page of the tasks that match a query.
        public static let findTasks: MemberName = "FindTasks"
        /// Returns what has changed since a serial.
        public static let getChangesSince: MemberName = "GetChangesSince"
        /// Replies when a task has ended.
        public static let wait: MemberName = "Wait"
        /// Returns why a task makes no progress, as texts for people.
        public static let explain: MemberName = "Explain"
        /// Returns why a task makes no progress, as codes with values.
        public static let explainCodes: MemberName = "ExplainCodes"
        /// Returns what has happened in the attempts of a task.
        public static let getHistory: MemberName = "GetHistory"
        /// Returns the connections that a task has open.
        public static let getConnections: MemberName = "GetConnections"
        /// Makes the objects of tasks announce their changes.
        public static let subscribe: MemberName = "Subscribe"
        /// Undoes Subscribe.
        public static let unsubscribe: MemberName = "Unsubscribe"
        /// Ends the service.
        public static let quit: MemberName = "Quit"

        /// Shows the list, and starts the service if needed; part of
        /// ``Contract/applicationInterface``.
        public static let activate: MemberName = "Activate"
        /// Adds links and metalinks that a person opened; part of
        /// ``Contract/applicationInterface``.
        public static let open: MemberName = "Open"
        /// Runs an action of a launcher's menu; part of ``Contract/applicationInterface``.
        public static let activateAction: MemberName = "ActivateAction"
    }

    /// The signals of the manager's interface.
    public enum Signal {
        /// A task was added: its id and its properties.
        public static let taskAdded = DBus.Signal<String, TaskProperties>(
            managerInterface,
            "TaskAdded",
            arguments: ["id", "properties"]
        )
        /// A task changed: its id, its state, and the properties that changed.
        public static let taskChanged = DBus.Signal<String, TaskProperties.State, [String: Value]>(
            managerInterface,
            "TaskChanged",
            arguments: ["id", "state", "changed"]
        )
        /// A task was removed: its id.
        public static let taskRemoved = DBus.Signal<String>(
            managerInterface,
            "TaskRemoved",
            arguments: ["id"]
        )
        /// Many tasks were added by one commit: their ids, the properties that are equal in all of
        /// them, and the serial.
        public static let tasksAdded = DBus.Signal<[String], [String: Value], UInt64>(
            managerInterface,
            "TasksAdded",
            arguments: ["ids", "common", "serial"]
        )
        /// Many tasks changed alike in one commit: their ids, their state, the changed properties
        /// that are equal in all of them, and the serial.
        public static let tasksChanged = DBus.Signal<
            [String], TaskProperties.State, [String: Value], UInt64
        >(managerInterface, "TasksChanged", arguments: ["ids", "state", "common", "serial"])
        /// Many tasks were removed by one commit: their ids and the serial.
        public static let tasksRemoved = DBus.Signal<[String], UInt64>(
            managerInterface,
            "TasksRemoved",
            arguments: ["ids", "serial"]
        )
    }

    /// The properties of the manager's interface.
    public enum Property {
        /// The version of the service, as text for people.
        public static let version: MemberName = "Version"
        /// The words of ``Capability`` that the service supports.
        public static let capabilities: MemberName = "Capabilities"
        /// How many tasks are in the list.
        public static let taskCount: MemberName = "TaskCount"
        /// How many tasks are waiting.
        public static let waitingCount: MemberName = "WaitingCount"
        /// How many tasks are downloading.
        public static let activeCount: MemberName = "ActiveCount"
        /// The serial of the newest commit that changed tasks.
        public static let serial: MemberName = "Serial"
        /// The id of the list of tasks.
        public static let listID: MemberName = "ListId"
        /// The speed of all tasks together, in bytes per second.
        public static let speed: MemberName = "Speed"
    }
}
