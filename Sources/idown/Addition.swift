// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// Adds the URLs and metalink files of a command line.
struct Addition {
    /// The content of one call to the service.
    private enum Call {
        case downloads([NewDownload])
        case metalink(path: String, AddOptions)

        var options: [AddOptions] {
            switch self {
            case .downloads(let downloads): downloads.map(\.options)
            case .metalink(_, let options): [options]
            }
        }
    }

    private let calls: [Call]
    private let skipsCompleted: Bool

    /// Prepares the calls: one for neighboring URLs, and one for each metalink file.
    ///
    /// - Parameters:
    ///   - arguments: The URLs and metalink files.
    ///   - adding: The options of the command line.
    ///   - options: The same options in the service's form.
    ///   - cookies: A file with cookies; each URL gets its own.
    /// - Throws: `ValidationError` for options that cannot go together; `ExitCode` after telling why
    ///   a metalink file cannot be read.
    init(
        _ arguments: [DownloadArgument],
        _ adding: AddingArguments,
        options: AddOptions,
        cookies: CookieFile?
    ) throws {
        var calls: [Call] = []
        var downloads: [NewDownload] = []
        func endCall() {
            if !downloads.isEmpty { calls.append(.downloads(downloads)) }
            downloads = []
        }
        for argument in arguments {
            switch argument {
            case .metalink(let path):
                if let option = adding.optionOfOneFile {
                    throw ValidationError(
                        "\(option) is for one file, and a metalink may list several"
                    )
                }
                guard !adding.continues else {
                    throw ValidationError("--continue is for URLs, not for metalink files")
                }
                if let obstacle = Disk.obstacle(to: path) {
                    Output.complain("\(CellText(path)) cannot be read: \(obstacle)")
                    throw ExitStatus.fileFailure.exit
                }
                endCall()
                calls.append(.metalink(path: path, options))
            case .url(let url):
                let filled = try AddingArguments.fill(options, from: cookies, for: url)
                // A token stands for a call whose URLs have the same options.
                if options.token != nil, downloads.last?.options != filled { endCall() }
                downloads.append(NewDownload(url, options: filled))
            }
        }
        endCall()
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
        let listed = try await ListedDownloads(
            client,
            for: calls.flatMap(\.options),
            skipsCompleted: skipsCompleted
        )
        for call in calls {
            switch call {
            case .metalink(let path, let options):
                try await listed.addMetalink(at: path, options, into: &ids)
            case .downloads(let downloads):
                let refusals = try await listed.add(downloads, into: &ids)
                if let refusal = refusals.first { throw refusal.error }
            }
        }
    }
}
