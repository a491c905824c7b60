// SPDX-License-Identifier: Apache-2.0

internal import DBus

extension [TaskProperties] {
    /// Takes a list, `aa{sv}`, where it lies in an answer.
    ///
    /// - Throws: ``DecodingFailure`` also for more tasks than a service may have: of empty ones a
    ///   message holds more than memory does.
    init(reading reader: inout WireReader) throws(DecodingFailure) {
        var tasks: [TaskProperties] = []
        try reader.array { reader throws(DecodingFailure) in
            guard tasks.count < Contract.maximumTasks else {
                throw DecodingFailure("more than \(Contract.maximumTasks) tasks")
            }
            tasks.append(try TaskProperties(reading: &reader))
        }
        self = tasks
    }
}

extension TaskProperties {
    /// Takes a dictionary where it lies; unknown keys and values of a wrong type are passed over.
    init(reading reader: inout WireReader) throws(DecodingFailure) {
        var task = TaskProperties()
        try reader.dictionary { reader, key throws(DecodingFailure) in
            guard let property = TaskProperty.named(key) else { return try reader.passVariant() }
            try task.take(property, from: &reader)
        }
        self = task
    }

    /// Decodes a property without a value or a key path in between; the same table as in
    /// ``TaskProperty``.
    private mutating func take(
        _ property: TaskProperty,
        from reader: inout WireReader
    ) throws(DecodingFailure) {
        switch property {
        case .id: try reader.take(&id)
        case .url: try reader.take(&url)
        case .fileName: try reader.take(&fileName)
        case .directory: try reader.take(&directory)
        case .path: try reader.take(&path)
        case .state: try reader.take(&state)
        case .activity: try reader.take(&activity)
        case .hold: try reader.take(&hold)
        case .downloadedBytes: try reader.take(&downloadedBytes)
        case .totalBytes: try reader.take(&totalBytes)
        case .speed: try reader.take(&speed)
        case .progress: try reader.take(&progress)
        case .errorCode: try reader.take(&errorCode)
        case .errorMessage: try reader.take(&errorMessage)
        case .attempts: try reader.take(&attempts)
        case .retryAt: try reader.take(&retryAt)
        case .connections: try reader.take(&connections)
        case .segments: try reader.take(&segments)
        case .resumable: try reader.take(&resumable)
        case .priority: try reader.take(&priority)
        case .speedLimit: try reader.take(&speedLimit)
        case .maxConnections: try reader.take(&maxConnections)
        case .retryFor: try reader.take(&retryFor)
        case .integrity: try reader.take(&integrity)
        case .mimeType: try reader.take(&mimeType)
        case .checksum: try reader.take(&checksum)
        case .referrer: try reader.take(&referrer)
        case .createdAt: try reader.take(&createdAt)
        case .finishedAt: try reader.take(&finishedAt)
        case .listedTasks: try reader.take(&listedTasks)
        }
    }
}

extension WireReader {
    /// Decodes a word.
    fileprivate mutating func take(_ word: inout some WireWord) throws(DecodingFailure) {
        var text = word.rawValue
        try take(&text)
        word = .init(rawValue: text)
    }
}
