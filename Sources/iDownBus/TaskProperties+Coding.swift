// SPDX-License-Identifier: Apache-2.0

public import DBus

extension TaskProperties: BusType {
    /// A dictionary, `a{sv}`.
    public static var signature: Signature { [String: Value].signature }

    /// Reads a dictionary; unknown keys and values of a wrong type are skipped, and missing keys
    /// keep their defaults.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        var task = TaskProperties()
        try reader.dictionary { reader, key throws(DecodingFailure) in
            if let property = TaskProperty.named(key) {
                try task.code(property, with: &reader)
            } else {
                _ = try reader.variant()
            }
        }
        self = task
    }

    /// Appends the whole task, with keys in the order of ``TaskProperty``.
    public func write(to writer: inout WireWriter) { TaskExcerpt(self, .all).write(to: &writer) }
}

/// Some properties of a task, `a{sv}`, for sending only.
public struct TaskExcerpt: BusType {
    /// The chosen properties, with the encoded keys and types of their entries.
    public struct Choice: Sendable {
        fileprivate let entries: [(property: TaskProperty, head: EntryHead)]

        /// Chooses properties; they are sent in this order.
        public init(_ properties: [TaskProperty]) {
            entries = properties.compactMap { property in
                Self.heads[property].map { (property, $0) }
            }
        }

        /// All properties, in the order of ``TaskProperty``.
        public static let all = Choice(TaskProperty.allCases)

        private static let heads = Dictionary(
            uniqueKeysWithValues: TaskProperty.allCases.map {
                ($0, EntryHead($0.rawValue, $0.signature))
            }
        )
    }

    private let task: TaskProperties
    private let choice: Choice

    /// Creates an excerpt of a task.
    public init(_ task: TaskProperties, _ choice: Choice) {
        self.task = task
        self.choice = choice
    }

    /// A dictionary, `a{sv}`.
    public static var signature: Signature { TaskProperties.signature }

    /// Reads the whole task.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        self.init(try TaskProperties(from: &reader), .all)
    }

    /// Appends the chosen properties in their order.
    public func write(to writer: inout WireWriter) {
        var task = task
        writer.array(of: "{") { writer in
            for (property, head) in choice.entries {
                writer.entry(head) { task.write(property, to: &$0) }
            }
        }
    }
}

/// An operation on a task's properties, whatever their types.
private protocol PropertyCoder {
    mutating func code(_ content: inout some BusType) throws(DecodingFailure)
}

extension WireReader: PropertyCoder {
    /// Reads a variant; skips one of another type.
    fileprivate mutating func code<Content: BusType>(
        _ content: inout Content
    ) throws(DecodingFailure) {
        if let read = try variant(of: Content.self) { content = read }
    }
}

extension WireWriter: PropertyCoder {
    /// Appends the value, without a variant around it.
    fileprivate mutating func code(_ content: inout some BusType) { content.write(to: &self) }
}

/// Records a property's value.
private struct PropertyContent: PropertyCoder {
    var variant = WireWriter()

    mutating func code(_ content: inout some BusType) { variant = WireWriter(Variant(content)) }
}

extension TaskProperty {
    /// The type of the property on the bus.
    public var signature: Signature { TaskProperties()[self].signature }
}

extension TaskProperties {
    /// Applies a coder to the field of a property; all reading, writing and comparing goes through
    /// here.
    ///
    /// This is a switch because a table of key paths would cost more than everything else done with
    /// a task.
    fileprivate mutating func code(
        _ property: TaskProperty,
        with coder: inout some PropertyCoder
    ) throws(DecodingFailure) {
        switch property {
        case .id: try coder.code(&id)
        case .serial: try coder.code(&serial)
        case .url: try coder.code(&url)
        case .fileName: try coder.code(&fileName)
        case .directory: try coder.code(&directory)
        case .path: try coder.code(&path)
        case .state: try coder.code(&state)
        case .activity: try coder.code(&activity)
        case .hold: try coder.code(&hold)
        case .downloadedBytes: try coder.code(&downloadedBytes)
        case .totalBytes: try coder.code(&totalBytes)
        case .speed: try coder.code(&speed)
        case .progress: try coder.code(&progress)
        case .errorCode: try coder.code(&errorCode)
        case .errorMessage: try coder.code(&errorMessage)
        case .attempts: try coder.code(&attempts)
        case .retryAt: try coder.code(&retryAt)
        case .connections: try coder.code(&connections)
        case .segments: try coder.code(&segments)
        case .resumable: try coder.code(&resumable)
        case .priority: try coder.code(&priority)
        case .speedLimit: try coder.code(&speedLimit)
        case .maxConnections: try coder.code(&maxConnections)
        case .retryFor: try coder.code(&retryFor)
        case .integrity: try coder.code(&integrity)
        case .mimeType: try coder.code(&mimeType)
        case .checksum: try coder.code(&checksum)
        case .referrer: try coder.code(&referrer)
        case .mirrors: try coder.code(&mirrors)
        case .expectedSize: try coder.code(&expectedSize)
        case .userAgent: try coder.code(&userAgent)
        case .headerNames: try coder.code(&headerNames)
        case .whenDone: try coder.code(&whenDone)
        case .onExisting: try coder.code(&onExisting)
        case .addedBy: try coder.code(&addedBy)
        case .createdAt: try coder.code(&createdAt)
        case .finishedAt: try coder.code(&finishedAt)
        case .listedTasks: try coder.code(&listedTasks)
        }
    }

    /// Appends a property's value; does not change the task.
    fileprivate mutating func write(_ property: TaskProperty, to writer: inout WireWriter) {
        try? code(property, with: &writer)
    }

    /// Encodes a property as a variant.
    package func variant(of property: TaskProperty) -> WireWriter {
        var task = self
        var content = PropertyContent()
        try? task.code(property, with: &content)
        return content.variant
    }

    /// The value of a property.
    public subscript(property: TaskProperty) -> Value {
        var reader = WireReader(variant(of: property))
        // Reading what was just written cannot fail.
        return (try? reader.variant()) ?? .structure([])
    }

    /// Decodes a dictionary; unknown keys and values of a wrong type are ignored.
    public init(_ dictionary: [String: Value]) { self = TaskProperties().applying(dictionary) }

    /// Returns the task with the changes of a TaskChanged signal applied.
    public func applying(_ changed: [String: Value]) -> TaskProperties {
        var task = self
        for (key, value) in changed {
            guard let property = TaskProperty.named(key) else { continue }
            var reader = WireReader(WireWriter(value))
            try? task.code(property, with: &reader)
        }
        return task
    }

    /// The whole task as a dictionary.
    public var dictionary: [String: Value] { dictionary(of: TaskProperty.allCases) }

    /// Returns some properties as a dictionary.
    public func dictionary(of properties: some Sequence<TaskProperty>) -> [String: Value] {
        var dictionary: [String: Value] = [:]
        for property in properties { dictionary[property.rawValue] = self[property] }
        return dictionary
    }

    /// Returns the properties that differ from an earlier state, in the order of ``TaskProperty``.
    package func properties(changedSince before: TaskProperties) -> [TaskProperty] {
        var (old, new) = (before, self)
        var (theirs, ours) = (WireWriter(), WireWriter())
        return TaskProperty.allCases.filter { property in
            old.write(property, to: &theirs)
            new.write(property, to: &ours)
            defer {
                theirs.removeAll()
                ours.removeAll()
            }
            return theirs.bytes != ours.bytes
        }
    }

    /// The task without secrets in URLs, as everyone on the bus may see it.
    ///
    /// The URL, the referrer and the mirrors have no query and no fragment, where sites put
    /// secrets.
    package var withoutQueries: TaskProperties {
        var task = self
        task.url = Self.withoutQuery(url)
        task.referrer = Self.withoutQuery(referrer)
        task.mirrors = mirrors.map(Self.withoutQuery)
        return task
    }

    /// Returns a URL without its query and fragment.
    package static func withoutQuery(_ url: String) -> String {
        // Compares bytes, because "?" and a combining mark after it are one Character.
        String(Substring(url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))
    }
}
