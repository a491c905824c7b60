// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials
private import iDownBus

extension DownloadList {
    /// Reads the array of tasks that `idown export --json` and `idown list --json` write.
    package init(json text: String) throws(Mistake) {
        let tasks: [Item]
        do {
            tasks = try JSONDecoder().decode([Item].self, from: Data(text.utf8))
        } catch {
            throw Mistake(
                line: 1,
                reason: "the list looks like JSON but is not an array of downloads"
            )
        }
        self.init(
            entries: tasks.enumerated().map { place, task in
                Entry(line: place + 1, url: task.url, options: task.options)
            }
        )
    }

    private init(entries: [Entry]) {
        self.entries = entries
        unit = "download"
    }

    /// The keys of a task that tell what to download; all but the URL may be missing.
    private struct Item: Decodable {
        let url: String
        let fileName: String?
        let directory: String?
        let checksum: String?
        let referrer: String?
        let userAgent: String?
        let expectedSize: UInt64?
        let mirrors: [String]?
        let whenDone: String?
        let onExisting: String?
        let speedLimit: UInt64?
        let maxConnections: UInt32?
        let retryFor: UInt64?
        let priority: Int32?
        let state: String?

        enum CodingKeys: String, CodingKey {
            case url = "URL"
            case fileName = "FileName"
            case directory = "Directory"
            case checksum = "Checksum"
            case referrer = "Referrer"
            case userAgent = "UserAgent"
            case expectedSize = "ExpectedSize"
            case mirrors = "Mirrors"
            case whenDone = "WhenDone"
            case onExisting = "OnExisting"
            case speedLimit = "SpeedLimit"
            case maxConnections = "MaxConnections"
            case retryFor = "RetryFor"
            case priority = "Priority"
            case state = "State"
        }

        var options: AddOptions {
            var options = AddOptions()
            options.directory = Self.given(directory)
            options.filename = Self.given(fileName).flatMap {
                DownloadList.isSuggested($0, by: url) ? nil : $0
            }
            options.checksum = Self.given(checksum)
            options.referrer = Self.given(referrer)
            options.userAgent = Self.given(userAgent)
            options.expectedSize = expectedSize.flatMap { $0 > 0 ? $0 : nil }
            options.mirrors = mirrors ?? []
            options.whenDone = whenDone.flatMap(AddOptions.WhenDone.init)
            options.onExisting = onExisting.flatMap(AddOptions.OnExisting.init)
            if options.onExisting == .rename { options.onExisting = nil }
            options.speedLimit = speedLimit.flatMap { $0 > 0 ? $0 : nil }
            options.connections = maxConnections.flatMap { $0 > 0 ? $0 : nil }
            options.retryFor = retryFor.flatMap { $0 != Contract.usualRetryFor ? $0 : nil }
            options.priority = priority.flatMap { $0 != 0 ? $0 : nil }
            options.paused = state == TaskProperties.State.paused.rawValue ? true : nil
            return options
        }

        private static func given(_ text: String?) -> String? {
            text.flatMap { $0.isEmpty ? nil : $0 }
        }
    }
}
