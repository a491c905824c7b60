// SPDX-License-Identifier: Apache-2.0

public import DBus

/// A task as it is told over the bus: GetTask, ListTasks and TaskAdded.
///
/// What a service does not tell keeps the value of a task of which nothing is known yet.
public struct TaskProperties: Hashable, Sendable {
    /// A decimal number, never reused.
    public var id = ""
    /// Without user and password; in signals without query.
    public var url = ""
    /// The final name; may change until the first response.
    public var fileName = ""
    /// The folder, absolute.
    public var directory = ""
    /// The finished file; empty before.
    public var path = ""
    /// Where the task stands.
    public var state: State = .waiting
    /// What a downloading task does now.
    public var activity: Activity = .none
    /// Why a waiting task does not start.
    public var hold: Hold = .none
    /// Bytes of the file so far.
    public var downloadedBytes: UInt64 = 0
    /// Bytes of the whole file; −1 while unknown; see ``knownTotal``.
    public var totalBytes: Int64 = -1
    /// Bytes per second over the last half second.
    public var speed: UInt64 = 0
    /// 0 to 1; −1 while unknown.
    public var progress: Double = -1
    /// The last failure's code, as ``FailureGroup`` reads it; empty for none.
    public var errorCode = ""
    /// The last failure, for people.
    public var errorMessage = ""
    /// Tries in the present stretch without progress.
    public var attempts: UInt32 = 0
    /// When the next try comes, in µs since the epoch; 0 for none.
    public var retryAt: UInt64 = 0
    /// Connections open now.
    public var connections: UInt32 = 0
    /// The byte ranges on disk: first byte and length.
    public var segments: [Pair<UInt64, UInt64>] = []
    /// Whether the server gave a validator and answers range requests.
    public var resumable = false
    /// Higher first; in the order of adding within one priority.
    public var priority: Int32 = 0
    /// Bytes per second; 0 for no limit.
    public var speedLimit: UInt64 = 0
    /// The most connections at once; 0 takes the service's MaxConnectionsPerDownload.
    public var maxConnections: UInt32 = 0
    /// What is known of a finished file.
    public var integrity: Integrity = .unknown
    /// The media type; empty while unknown.
    public var mimeType = ""
    /// The digest that the file is to have; empty for none.
    public var checksum = ""
    /// The page that the link stood on; in signals without query.
    public var referrer = ""
    /// When the task was added, in µs since the epoch.
    public var createdAt: UInt64 = 0
    /// When the file was completed, in µs since the epoch; 0 for not yet.
    public var finishedAt: UInt64 = 0
    /// The ids of the tasks that stand for the files of this metalink, in its order; empty for
    /// every other file, and until the files are added.
    public var listedTasks: [String] = []

    /// A task of which nothing is known yet.
    public init() {}

    /// The size of the whole file, if it is known.
    public var knownTotal: UInt64? {
        UInt64(exactly: totalBytes)
    }

    /// ``segments`` by their names, for those who know nothing of the bus.
    public var byteRanges: [(first: UInt64, length: UInt64)] {
        segments.map { (first: $0.first, length: $0.second) }
    }
}
