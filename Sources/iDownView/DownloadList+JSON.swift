// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials
private import iDownBus

extension DownloadList {
    /// Reads the array of tasks that `idown export --json` and `idown list --json` write, and leaves
    /// out the tasks with mistakes.
    package init(json text: String) throws(Mistake) {
        let tasks: [Reading]
        do {
            tasks = try JSONDecoder().decode([Reading].self, from: Data(text.utf8))
        } catch {
            throw Mistake(
                line: 1,
                reason: "the list looks like JSON but is not an array of downloads"
            )
        }
        self.init(tasks)
    }

    private init(_ tasks: [Reading]) {
        unit = "download"
        for (place, task) in tasks.enumerated() {
            switch task {
            case .item(let item):
                entries.append(Entry(line: place + 1, url: item.url, options: item.options))
            case .mistake(let reason): mistakes.append(Mistake(line: place + 1, reason: reason))
            }
        }
    }

    /// A task, or why it cannot be read.
    private enum Reading: Decodable {
        case item(Item)
        case mistake(String)

        init(from decoder: any Decoder) throws {
            do {
                self = .item(try Item(from: decoder))
            } catch let error as DecodingError {
                self = .mistake(Self.reason(error, below: decoder.codingPath.count))
            } catch {
                // Foundation's own error for a number out of range does not name the key.
                self = .mistake("one of its values cannot be used, such as a number too large")
            }
        }

        /// Returns a reason that names the key, but not the value.
        private static func reason(_ error: DecodingError, below depth: Int) -> String {
            switch error {
            case .keyNotFound(let key, _): return "\(key.stringValue) is missing"
            case .typeMismatch(_, let context), .valueNotFound(_, let context),
                .dataCorrupted(let context):
                guard let key = context.codingPath.dropFirst(depth).first?.stringValue else {
                    return "it is not an object with a URL"
                }
                return "\(key) has a value of the wrong kind"
            @unknown default: return "it cannot be read"
            }
        }
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
