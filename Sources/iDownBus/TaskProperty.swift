// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The key of a task's property, in the order in which tasks are told.
public enum TaskProperty: String, CaseIterable, Hashable, Sendable {
    /// The id.
    case id = "Id"
    /// The URL without user and password.
    case url = "URL"
    /// The final name; may change until the first response.
    case fileName = "FileName"
    /// The folder.
    case directory = "Directory"
    /// The finished file; empty before.
    case path = "Path"
    /// Where the task stands.
    case state = "State"
    /// What `downloading` does now.
    case activity = "Activity"
    /// Why `waiting` does not start.
    case hold = "Hold"
    /// Bytes on disk or on their way to it.
    case downloadedBytes = "DownloadedBytes"
    /// Bytes of the whole file; −1 while unknown.
    case totalBytes = "TotalBytes"
    /// Bytes per second.
    case speed = "Speed"
    /// 0 to 1; −1 while unknown.
    case progress = "Progress"
    /// The last failure's code.
    case errorCode = "ErrorCode"
    /// The last failure, for people.
    case errorMessage = "ErrorMessage"
    /// Tries in the present stretch without progress.
    case attempts = "Attempts"
    /// When the next try comes, in µs since the epoch; 0 for none.
    case retryAt = "RetryAt"
    /// Connections open now.
    case connections = "Connections"
    /// The byte ranges on disk, each as first byte and length.
    case segments = "Segments"
    /// Whether the server gave a validator and answers range requests.
    case resumable = "Resumable"
    /// Higher first.
    case priority = "Priority"
    /// Bytes per second; 0 for no limit.
    case speedLimit = "SpeedLimit"
    /// The most connections at once; 0 takes the service's setting.
    case maxConnections = "MaxConnections"
    /// What is known of the finished file.
    case integrity = "Integrity"
    /// The media type; empty while unknown.
    case mimeType = "MimeType"
    /// The digest that the file is to have; empty for none.
    case checksum = "Checksum"
    /// The page that the link stood on; empty for none.
    case referrer = "Referrer"
    /// When it was added, in µs since the epoch.
    case createdAt = "CreatedAt"
    /// When it was completed, in µs since the epoch; 0 for not yet.
    case finishedAt = "FinishedAt"
    /// The ids of the tasks that stand for the files of a metalink; empty for every other file.
    case listedTasks = "ListedTasks"

    /// The property's type on the wire.
    public var signature: Signature {
        column.signature
    }

    /// The property's name among the members of `org.idown.Task1`.
    public var memberName: MemberName {
        // Letters all of them, as a test holds.
        (try? MemberName(validating: rawValue)) ?? "Unknown"
    }

    /// What a change announces on the task's object.
    ///
    /// What moves all the time is only told by TaskChanged, which has a pace.
    public var changeSignal: ChangeSignal {
        switch self {
        case .id, .createdAt: .constant
        case .downloadedBytes, .speed, .progress, .connections, .segments: .never
        case .url, .fileName, .directory, .path, .state, .activity, .hold, .totalBytes, .errorCode,
            .errorMessage, .attempts, .retryAt, .resumable, .priority, .speedLimit,
            .maxConnections, .integrity, .mimeType, .checksum, .referrer, .finishedAt, .listedTasks:
            .changes
        }
    }

    /// Where the property stands in ``TaskProperties``.
    ///
    /// Types on the wire, coding and decoding all follow from this table.
    private var row: Column {
        switch self {
        case .id: Column(\.id)
        case .url: Column(\.url)
        case .fileName: Column(\.fileName)
        case .directory: Column(\.directory)
        case .path: Column(\.path)
        case .state: Column(\.state)
        case .activity: Column(\.activity)
        case .hold: Column(\.hold)
        case .downloadedBytes: Column(\.downloadedBytes)
        case .totalBytes: Column(\.totalBytes)
        case .speed: Column(\.speed)
        case .progress: Column(\.progress)
        case .errorCode: Column(\.errorCode)
        case .errorMessage: Column(\.errorMessage)
        case .attempts: Column(\.attempts)
        case .retryAt: Column(\.retryAt)
        case .connections: Column(\.connections)
        case .segments: Column(\.segments)
        case .resumable: Column(\.resumable)
        case .priority: Column(\.priority)
        case .speedLimit: Column(\.speedLimit)
        case .maxConnections: Column(\.maxConnections)
        case .integrity: Column(\.integrity)
        case .mimeType: Column(\.mimeType)
        case .checksum: Column(\.checksum)
        case .referrer: Column(\.referrer)
        case .createdAt: Column(\.createdAt)
        case .finishedAt: Column(\.finishedAt)
        case .listedTasks: Column(\.listedTasks)
        }
    }
}

extension TaskProperty {
    /// A property's type on the wire, and the way between ``TaskProperties`` and a value.
    struct Column: Sendable {
        let signature: Signature
        /// A value of another type changes nothing.
        let write: @Sendable (inout TaskProperties, Value) -> Void
        let isEqual: @Sendable (TaskProperties, TaskProperties) -> Bool

        init<Content: BusType & Equatable>(
            _ path: any WritableKeyPath<TaskProperties, Content> & Sendable
        ) {
            signature = Content.signature
            write = { task, value in
                guard let content = try? Content(busValue: value) else { return }
                task[keyPath: path] = content
            }
            isEqual = { $0[keyPath: path] == $1[keyPath: path] }
        }
    }

    /// Made once: lists of many thousand tasks are coded with them.
    private static let columns = allCases.map { ($0, $0.row) }

    private static let places = Dictionary(uniqueKeysWithValues: columns)

    private static let names = Dictionary(
        uniqueKeysWithValues: columns.map { ($0.0.rawValue, $0) }
    )

    /// The column of a key on the wire; nil for one that is not known.
    static func column(named name: String) -> Column? { names[name]?.1 }

    /// The property of a key on the wire; nil for one that is not known.
    ///
    /// Quicker than to ask the enumeration, which compares with one name after the other.
    static func named(_ name: String) -> TaskProperty? { names[name]?.0 }

    var column: Column {
        Self.places[self] ?? row
    }

    /// All properties in order.
    static var all: [(property: TaskProperty, column: Column)] {
        columns
    }
}
