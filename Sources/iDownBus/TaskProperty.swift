// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The keys of a task's properties, in the order in which the service sends them.
public enum TaskProperty: String, CaseIterable, Hashable, Sendable {
    /// The id.
    case id = "Id"
    /// The number of the commit that last changed more of the task than its progress.
    case serial = "Serial"
    /// The URL without user and password.
    case url = "URL"
    /// The final name; until the first response arrives, the expected one.
    case fileName = "FileName"
    /// The folder.
    case directory = "Directory"
    /// The path of the finished file; empty before it is finished.
    case path = "Path"
    /// The state of the task.
    case state = "State"
    /// The present activity of a downloading task.
    case activity = "Activity"
    /// The reason why a waiting task does not start.
    case hold = "Hold"
    /// The number of bytes of the file on disk.
    case downloadedBytes = "DownloadedBytes"
    /// The size of the whole file in bytes; −1 while it is unknown.
    case totalBytes = "TotalBytes"
    /// The speed in bytes per second.
    case speed = "Speed"
    /// The downloaded part of the file, 0 to 1; −1 while the size is unknown.
    case progress = "Progress"
    /// The last failure as a code.
    case errorCode = "ErrorCode"
    /// The last failure as text for people.
    case errorMessage = "ErrorMessage"
    /// The number of failed attempts since the last progress.
    case attempts = "Attempts"
    /// When the next attempt starts, in µs since the epoch; 0 if none is planned.
    case retryAt = "RetryAt"
    /// How many connections are open now.
    case connections = "Connections"
    /// The byte ranges on disk, each as its first byte and its length.
    case segments = "Segments"
    /// Whether the server sent a validator and answers range requests.
    case resumable = "Resumable"
    /// Tasks of higher priority start first.
    case priority = "Priority"
    /// The most bytes per second; 0 means no limit.
    case speedLimit = "SpeedLimit"
    /// The most connections at once; 0 means the service's setting.
    case maxConnections = "MaxConnections"
    /// How long idown keeps trying without progress, in seconds; 0 means without limit.
    case retryFor = "RetryFor"
    /// How the finished file was checked.
    case integrity = "Integrity"
    /// The media type; empty while it is unknown.
    case mimeType = "MimeType"
    /// The digest that the file must have; empty if none was given.
    case checksum = "Checksum"
    /// The page that the link is on; empty if none was given.
    case referrer = "Referrer"
    /// More URLs of the same file, without user and password.
    case mirrors = "Mirrors"
    /// The length that the file must have, in bytes; 0 if none was given.
    case expectedSize = "ExpectedSize"
    /// The User-Agent header to send; empty for idown's own.
    case userAgent = "UserAgent"
    /// The names of the given request headers.
    case headerNames = "HeaderNames"
    /// What idown does with the finished file; empty for nothing.
    case whenDone = "WhenDone"
    /// What idown does if the name is taken.
    case onExisting = "OnExisting"
    /// The id of the application that added the task; empty if unknown.
    case addedBy = "AddedBy"
    /// When the task was added, in µs since the epoch.
    case createdAt = "CreatedAt"
    /// When the file was completed, in µs since the epoch; 0 if it is not completed.
    case finishedAt = "FinishedAt"
    /// The ids of the tasks for the files of a metalink; empty for every other file.
    case listedTasks = "ListedTasks"

    /// The name of the property in `org.idown.Task1`.
    public var memberName: MemberName { MemberName(checked: rawValue) }

    /// How the task's object announces a change of the property.
    ///
    /// Properties that change all the time are only announced by TaskChanged, which limits how
    /// often.
    public var changeSignal: ChangeSignal {
        switch self {
        case .id, .addedBy, .createdAt: .constant
        case .downloadedBytes, .speed, .progress, .connections, .segments: .never
        default: .changes
        }
    }

    /// Whether programs of the user may set the property.
    public var isWritable: Bool { [.priority, .speedLimit, .maxConnections].contains(self) }

    /// Checks that a value is in the property's range.
    ///
    /// - Throws: `InvalidArgs`.
    package func judge(_ value: Value) throws(BusError) {
        let (number, range): (UInt64, ClosedRange<UInt64>)
        switch (self, value) {
        case (.speedLimit, .uint64(let limit)): (number, range) = (limit, Contract.speedLimit)
        case (.maxConnections, .uint32(let count)):
            (number, range) = (UInt64(count), 0...UInt64(Contract.maxConnections.upperBound))
        default: return
        }
        guard !range.contains(number) else { return }
        throw .invalidArguments(
            "\(rawValue) must be \(range.lowerBound) to \(range.upperBound), not \(number)."
        )
    }

    /// Returns the properties with these keys, which a client asked for.
    ///
    /// - Throws: `InvalidOption` for an unknown key.
    package static func all(named words: [String]) throws(ManagerError) -> [TaskProperty] {
        try all(OptionName("properties"), words)
    }

    /// Returns the properties with these keys; `name` is the option that a `refusal` names.
    static func all(_ name: OptionName, _ words: [String]) throws(ManagerError) -> [TaskProperty] {
        try words.map { word throws(ManagerError) in
            guard let property = named(word) else {
                throw name.refusal(
                    "may hold names of Task1's properties, such as Id, not \(QuotedText(word))"
                )
            }
            return property
        }
    }

    /// Returns the property with a key on the bus; nil for an unknown key.
    ///
    /// This is faster than the enumeration's initializer, which compares one name after the other.
    static func named(_ name: String) -> TaskProperty? { names[name] }

    private static let names = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
}
