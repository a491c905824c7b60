// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The names and limits that every client of idown may rely on.
///
/// They are the same as in `dbus/org.idown.Manager1.xml`, where they are explained.
public enum Contract {
    /// The version of idown that this build is; the value of the property `Version`.
    public static let version = "0.1.0"

    /// The name that the service owns on the session bus.
    public static let busName: BusName = "org.idown.Manager1"

    /// The object that stands for the whole service.
    public static let managerPath: ObjectPath = "/org/idown/Manager1"

    /// The interface of ``managerPath``.
    public static let managerInterface: InterfaceName = "org.idown.Manager1"

    /// The freedesktop interface by which desktops hand links over, also at ``managerPath``.
    public static let applicationInterface: InterfaceName = "org.freedesktop.Application"

    /// The interface of each task's object, below ``TaskPath/parent``.
    public static let taskInterface: InterfaceName = "org.idown.Task1"

    /// The most bytes of a URL.
    public static let maximumURLBytes = 64 << 10

    /// The most URLs in one AddURLs.
    public static let maximumURLs = 100_000

    /// The range of MaxConcurrentDownloads.
    public static let concurrentDownloads: ClosedRange<UInt32> = 1...64

    /// The range of MaxConnectionsPerDownload and of the option `connections`.
    public static let connections: ClosedRange<UInt32> = 1...16

    /// The range of a task's MaxConnections; 0 takes MaxConnectionsPerDownload.
    public static let maxConnections: ClosedRange<UInt32> = 0...connections.upperBound

    /// The range of SpeedLimit and of the option `speed-limit`, in bytes a second; 0 is no limit.
    public static let speedLimit: ClosedRange<UInt64> = 0...UInt64(Int64.max)

    /// The most URLs in the option `mirrors`.
    public static let maximumMirrors = 100

    /// What Wait answers when the task was removed.
    public static let removed = "removed"

    /// The most calls of Wait that one client, and all clients together, may have pending.
    public static let pendingWaits = (client: 1_000, all: 10_000)

    /// The tasks in an answer of FindTasks without a limit.
    public static let pageOfTasks: UInt32 = 1_000

    /// The most tasks that a service has.
    public static let maximumTasks = 1_000_000

    /// The most bytes of an answer with many tasks; a message of D-Bus holds an array of 64 MiB.
    public static let maximumListBytes = 60 << 20
}

extension Contract {
    /// Methods of the manager's interface.
    public enum Method {
        /// Adds a download.
        public static let addURL: MemberName = "AddURL"
        /// Adds a download as options say.
        public static let addURLWithOptions: MemberName = "AddURLWithOptions"
        /// Adds many downloads, or none.
        public static let addURLs: MemberName = "AddURLs"
        /// Stops a task and keeps its bytes.
        public static let pause: MemberName = "Pause"
        /// Puts a task back into the queue.
        public static let resume: MemberName = "Resume"
        /// As Resume; also ends a back-off and downloads a completed file again.
        public static let retry: MemberName = "Retry"
        /// Stops a task and deletes its partial data.
        public static let cancel: MemberName = "Cancel"
        /// Takes a task off the list.
        public static let remove: MemberName = "Remove"
        /// Puts all that is paused or failed back into the queue.
        public static let startAll: MemberName = "StartAll"
        /// Pauses all that waits or downloads.
        public static let pauseAll: MemberName = "PauseAll"
        /// Puts a selection back into the queue.
        public static let startTasks: MemberName = "StartTasks"
        /// Pauses a selection.
        public static let pauseTasks: MemberName = "PauseTasks"
        /// Cancels a selection.
        public static let cancelTasks: MemberName = "CancelTasks"
        /// Takes a selection off the list.
        public static let removeTasks: MemberName = "RemoveTasks"
        /// Takes all completed tasks off the list.
        public static let clearCompleted: MemberName = "ClearCompleted"
        /// Gives a task a fresh link.
        public static let setURL: MemberName = "SetURL"
        /// Gives a task another place in the queue.
        public static let setPriority: MemberName = "SetPriority"
        /// Tells one task.
        public static let getTask: MemberName = "GetTask"
        /// Tells all tasks.
        public static let listTasks: MemberName = "ListTasks"
        /// Tells one page of the tasks that are looked for.
        public static let findTasks: MemberName = "FindTasks"
        /// Answers once a task has come to its end.
        public static let wait: MemberName = "Wait"
        /// Tells why a task does not move.
        public static let explain: MemberName = "Explain"
        /// Ends the service.
        public static let quit: MemberName = "Quit"

        /// Starts the service, and nothing else; of ``Contract/applicationInterface``.
        public static let activate: MemberName = "Activate"
        /// Takes what a person opened; of ``Contract/applicationInterface``.
        public static let open: MemberName = "Open"
        /// Does what stands in a launcher's menu; of ``Contract/applicationInterface``.
        public static let activateAction: MemberName = "ActivateAction"
    }

    /// The actions of the `.desktop` file, by the names that ActivateAction takes.
    public enum Action: String, CaseIterable, Sendable {
        /// As StartAll.
        case startAll = "start-all"
        /// As PauseAll.
        case pauseAll = "pause-all"
    }

    /// Signals of the manager's interface.
    public enum Signal {
        /// A task is in the list.
        public static let taskAdded: MemberName = "TaskAdded"
        /// A task has changed.
        public static let taskChanged: MemberName = "TaskChanged"
        /// A task is no longer in the list.
        public static let taskRemoved: MemberName = "TaskRemoved"
    }

    /// Properties of the manager's interface.
    public enum Property {
        /// The service's version, for people.
        public static let version: MemberName = "Version"
        /// How many tasks download at once.
        public static let maxConcurrentDownloads: MemberName = "MaxConcurrentDownloads"
        /// How many connections a task may open that says nothing of its own.
        public static let maxConnectionsPerDownload: MemberName = "MaxConnectionsPerDownload"
        /// The most bytes per second over all tasks; 0 for no limit.
        public static let speedLimit: MemberName = "SpeedLimit"
        /// Where downloads go that name no folder.
        public static let downloadDirectory: MemberName = "DownloadDirectory"
        /// Whether downloads wait for a network that is not metered.
        public static let holdOnMetered: MemberName = "HoldOnMetered"
        /// Whether downloads wait while the battery is low.
        public static let holdOnLowBattery: MemberName = "HoldOnLowBattery"
        /// How long completed tasks stay in the list.
        public static let keepCompleted: MemberName = "KeepCompleted"
        /// How many tasks are in the list.
        public static let taskCount: MemberName = "TaskCount"
        /// How many tasks wait.
        public static let waitingCount: MemberName = "WaitingCount"
        /// How many tasks download.
        public static let activeCount: MemberName = "ActiveCount"
        /// Bytes per second over all tasks.
        public static let speed: MemberName = "Speed"
    }
}
