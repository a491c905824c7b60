// SPDX-License-Identifier: Apache-2.0

package import DBus

/// A download that AddMany adds: a URL with its own options.
public struct NewDownload: Hashable, Sendable {
    /// An http, https, ftp, ftps or sftp URL.
    public var url: String
    /// The options of the download.
    public var options: AddOptions

    /// Creates a download to add; nothing is checked.
    public init(_ url: String, options: AddOptions = AddOptions()) {
        self.url = url
        self.options = options
    }
}

extension NewDownload {
    private static let urlKey = "url"

    /// The name of a download in an error, by its position in the call; the window reads the number
    /// back from it.
    package static func name(ofPlace index: Int) -> String { "task \(index + 1): " }

    /// Decodes the downloads of a call.
    ///
    /// More than 100 are decoded on another thread, so that the bus can serve other clients
    /// meanwhile.
    ///
    /// - Throws: `LimitExceeded` for more than ``Contract/maximumURLs``; `InvalidOption` for the
    ///   first download without a URL or with a bad option, whose position the text names.
    package static func all(
        in dictionaries: [[String: Value]]
    ) async throws(ManagerError) -> [NewDownload] {
        let (count, most) = (dictionaries.count, Contract.maximumURLs)
        guard count <= most else {
            throw ManagerError(.limitExceeded, "AddMany takes at most \(most) tasks, not \(count).")
        }
        return count > 100 ? try await readAside(dictionaries) : try read(dictionaries)
    }

    @concurrent
    private static func readAside(
        _ dictionaries: [[String: Value]]
    ) async throws(ManagerError) -> [NewDownload] {
        try read(dictionaries)
    }

    private static func read(
        _ dictionaries: [[String: Value]]
    ) throws(ManagerError) -> [NewDownload] {
        try dictionaries.enumerated().map { index, dictionary throws(ManagerError) in
            do throws(ManagerError) {
                return try NewDownload(dictionary)
            } catch {
                throw error.named(by: name(ofPlace: index))
            }
        }
    }

    private init(_ dictionary: [String: Value]) throws(ManagerError) {
        var options = dictionary
        guard let value = options.removeValue(forKey: Self.urlKey) else {
            throw ManagerError(.invalidOption, "url is missing.")
        }
        guard case .string(let url) = value else {
            throw ManagerError(.invalidOption, "url must be of type s, not \(value.signature).")
        }
        self.init(url, options: try AddOptions(options))
    }

    /// The download as `a{sv}`.
    var dictionary: [String: Value] {
        var dictionary = options.dictionary
        dictionary[Self.urlKey] = .string(url)
        return dictionary
    }
}

extension ManagerError {
    /// Returns the error with the position of the download in front of its text.
    package func named(by place: String) -> ManagerError {
        ManagerError(BusError(name, place + message))
    }
}
