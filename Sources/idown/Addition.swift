// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownBus
import iDownSettings
import iDownView

/// Adds the URLs and metalink files of a command line.
struct Addition {
    /// The content of one call to the service.
    private enum Call {
        case urls([String], AddOptions)
        case metalink(path: String, AddOptions)
    }

    private let calls: [Call]
    private let skipsCompleted: Bool

    /// Prepares the calls: one for all URLs, or several where URLs need different cookies.
    ///
    /// - Parameters:
    ///   - arguments: The URLs and metalink files.
    ///   - adding: The options of the command line.
    ///   - options: The same options in the service's form.
    ///   - cookies: A file with cookies; each URL gets its own.
    /// - Throws: `ValidationError` for options that cannot go together.
    init(
        _ arguments: [DownloadArgument],
        _ adding: AddingArguments,
        options: AddOptions,
        cookies: CookieFile?
    ) throws {
        var calls: [Call] = []
        for argument in arguments {
            switch argument {
            case .metalink(let path):
                if let option = adding.optionOfOneFile {
                    throw ValidationError(
                        "\(option) is for one file, and a metalink may list several"
                    )
                }
                calls.append(.metalink(path: path, options))
            case .url(let url):
                let filled = try AddingArguments.fill(options, from: cookies, for: url)
                if case .urls(let urls, filled) = calls.last {
                    calls[calls.count - 1] = .urls(urls + [url], filled)
                } else {
                    calls.append(.urls([url], filled))
                }
            }
        }
        if calls.count > 1, options.token != nil {
            throw ValidationError("--token is for one call: give URLs only, or one metalink file")
        }
        self.calls = calls
        skipsCompleted = adding.continues
    }

    /// Adds everything and returns the IDs in the order of the arguments.
    ///
    /// - Parameters:
    ///   - client: The service.
    ///   - ids: Gets the IDs after each call, so that they are known even if a later call is
    ///     refused.
    /// - Throws: The error of the first call that was refused.
    func run(_ client: ManagerClient, into ids: inout [String]) async throws(ManagerError) {
        for call in calls {
            switch call {
            case .metalink(let path, let options):
                ids += try await client.addMetalink(at: path, options: options)
            case .urls(let urls, let options):
                var completed: [String: String] = [:]
                if skipsCompleted {
                    for url in urls {
                        completed[url] = try await Self.completed(url, options, client)
                    }
                }
                let missing = urls.filter { completed[$0] == nil }
                var added = try await Self.add(missing, options, client)[...]
                for url in urls { ids += [completed[url] ?? added.popFirst()].compactMap(\.self) }
            }
        }
    }

    /// A single URL goes by the method of its own, whose errors do not name a place.
    private static func add(
        _ urls: [String],
        _ options: AddOptions,
        _ client: ManagerClient
    ) async throws(ManagerError) -> [String] {
        guard let url = urls.first else { return [] }
        guard urls.count == 1 else { return try await client.addURLs(urls, options: options) }
        return [try await client.addURL(url, options: options)]
    }

    /// Returns the ID of a download of this URL into this folder that was completed and whose file
    /// is still there with its full size; nil if there is none.
    private static func completed(
        _ url: String,
        _ options: AddOptions,
        _ client: ManagerClient
    ) async throws(ManagerError) -> String? {
        var folder = options.directory
        if folder == nil, case .text(let usual) = try await client.value(of: .downloadDirectory) {
            folder = usual
        }
        guard let parts = URLText(url), let folder = folder.flatMap(resolved) else { return nil }
        var query = TaskQuery()
        query.states = [.completed]
        query.text = parts.host
        query.descending = true
        let task = try await client.allTasks(query).first { task in
            let isSame = URLText(task.url) == parts && task.directory == folder
            let hasName = options.filename.map { $0 == task.fileName } ?? true
            return isSame && hasName && size(of: task.path) == task.knownTotal
        }
        return task?.id
    }

    /// realpath(3).
    private static func resolved(_ folder: String) -> String? {
        guard let path = realpath(folder, nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }

    /// The size of a regular file; nil where there is none: stat(2).
    private static func size(of path: String) -> UInt64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt64(status.st_size)
    }
}
