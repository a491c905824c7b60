// SPDX-License-Identifier: Apache-2.0

public import DBus

/// A task as the service describes it on the bus.
///
/// Properties that the service did not send keep the defaults below.
public struct TaskProperties: Hashable, Sendable {
    /// The id, a decimal number that is never used again.
    public var id = ""
    /// The number of the commit that last changed more of the task than its progress.
    ///
    /// Of two descriptions of a task, the one with the higher serial is newer.
    public var serial: UInt64 = 0
    /// The URL without user and password; in signals also without query.
    public var url = ""
    /// The final name; until the first response arrives, the expected one.
    public var fileName = ""
    /// The folder, as an absolute path.
    public var directory = ""
    /// The path of the finished file; empty before it is finished.
    public var path = ""
    /// The state of the task.
    public var state: State = .waiting
    /// The present activity of a downloading task.
    public var activity: Activity = .none
    /// The reason why a waiting task does not start.
    public var hold: Hold = .none
    /// The number of bytes of the file on disk.
    public var downloadedBytes: UInt64 = 0
    /// The size of the whole file in bytes, or −1 while it is unknown; see also ``knownTotal``.
    public var totalBytes: Int64 = -1
    /// The speed in bytes per second, averaged over the last half second.
    public var speed: UInt64 = 0
    /// The downloaded part of the file, 0 to 1; −1 while the size is unknown.
    public var progress: Double = -1
    /// The last failure as a code, which ``FailureGroup`` reads; empty if there is none.
    public var errorCode = ""
    /// The last failure as text for people; empty if there is none.
    public var errorMessage = ""
    /// The number of failed attempts since the last progress.
    public var attempts: UInt32 = 0
    /// When the next attempt starts, in µs since the epoch; 0 if none is planned.
    public var retryAt: UInt64 = 0
    /// How many connections are open now.
    public var connections: UInt32 = 0
    /// The byte ranges on disk, each as first byte and length; see also ``byteRanges``.
    public var segments: [Structure<UInt64, UInt64>] = []
    /// Whether the server sent a validator and answers range requests.
    public var resumable = false
    /// Tasks of higher priority start first; tasks of equal priority start in the order in which
    /// they were added.
    public var priority: Int32 = 0
    /// The most bytes per second; 0 means no limit.
    public var speedLimit: UInt64 = 0
    /// The most connections at once; 0 means the service's MaxConnectionsPerDownload.
    public var maxConnections: UInt32 = 0
    /// How long idown keeps trying without progress, in seconds; 0 means without limit.
    public var retryFor: UInt64 = Contract.usualRetryFor
    /// How the finished file was checked.
    public var integrity: Integrity = .unknown
    /// The media type; empty while it is unknown.
    public var mimeType = ""
    /// The digest that the file must have; empty if none was given.
    public var checksum = ""
    /// The page that the link is on; empty if none was given; in signals without query.
    public var referrer = ""
    /// More URLs of the same file, without user and password; in signals also without query.
    public var mirrors: [String] = []
    /// The length that the file must have, in bytes; 0 if none was given.
    public var expectedSize: UInt64 = 0
    /// The User-Agent header to send; empty for idown's own.
    public var userAgent = ""
    /// The names of the given request headers; their values cannot be read.
    public var headerNames: [String] = []
    /// What idown does with the finished file, a word of ``AddOptions/WhenDone``; empty for
    /// nothing.
    public var whenDone = ""
    /// What idown does if the name is taken, a word of ``AddOptions/OnExisting``.
    public var onExisting = AddOptions.OnExisting.rename.rawValue
    /// The id of the application that added the task, `idown` for idown's command; empty if
    /// unknown.
    public var addedBy = ""
    /// When the task was added, in µs since the epoch.
    public var createdAt: UInt64 = 0
    /// When the file was completed, in µs since the epoch; 0 if it is not completed.
    public var finishedAt: UInt64 = 0
    /// The ids of the tasks for the files of this metalink, in its order.
    ///
    /// Empty for every other file, and until the files are added.
    public var listedTasks: [String] = []

    /// Creates a task with the defaults.
    public init() {}

    /// The size of the whole file in bytes; nil while it is unknown.
    public var knownTotal: UInt64? { UInt64(exactly: totalBytes) }

    /// The seconds until a downloading task is done; nil for other tasks, and while unknown.
    public var timeLeft: Double? {
        guard state == .downloading, speed > 0, let total = knownTotal, total >= downloadedBytes
        else { return nil }
        return Double(total - downloadedBytes) / Double(speed)
    }

    /// Returns the newer of this state of a task and that of an answer.
    ///
    /// Of two states with one serial, the known progress is the newer one, because an answer takes
    /// longer to arrive than a signal.
    package func updated(by answer: TaskProperties) -> TaskProperties {
        guard answer.serial == serial else { return answer.serial > serial ? answer : self }
        var new = answer
        (new.downloadedBytes, new.progress) = (downloadedBytes, progress)
        (new.speed, new.activity) = (speed, activity)
        return new
    }

    /// The ``segments`` as tuples with named parts.
    public var byteRanges: [(first: UInt64, length: UInt64)] {
        segments.map { (first: $0.members.0, length: $0.members.1) }
    }
}
