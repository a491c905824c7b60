// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// Hands a list of downloads over, in as few calls as may be.
struct ListImport {
    private let batches: [DownloadList.Batch]

    /// - Parameters:
    ///   - list: What is to be added.
    ///   - defaults: The command line's own options, for what the list says nothing of.
    /// - Throws: ``ExitStatus`` over a URL that is none, which has been told.
    init(_ list: DownloadList, defaults: AddOptions) throws {
        batches = try Self.complete(list, defaults).batches
    }

    /// Adds what can be added, says which lines cannot, and goes on with the others.
    ///
    /// - Parameters:
    ///   - client: The service.
    ///   - ids: Gets the ids in the order of the list.
    /// - Returns: The code of the first refusal.
    /// - Throws: ``ManagerError`` where nobody answers any more.
    func run(_ client: ManagerClient, into ids: inout [String]) async throws -> ExitStatus? {
        var failure: ExitStatus?
        // One after the other: the order of the list is the order of the queue.
        for batch in batches {
            let refused = try await run(batch, client, into: &ids)
            failure = failure ?? refused
        }
        return failure
    }

    /// The service adds all of a batch or none: one that holds a refused URL is halved until that
    /// URL stands alone and all others are added.
    private func run(
        _ batch: DownloadList.Batch,
        _ client: ManagerClient,
        into ids: inout [String]
    ) async throws(ManagerError) -> ExitStatus? {
        do throws(ManagerError) {
            ids += try await add(batch, client)
            return nil
        } catch {
            guard !error.isUnreachable else { throw error }
            guard batch.isRefusedForOne(error), let (first, second) = batch.halves else {
                Output.complain("\(Self.place(of: batch)): \(error)")
                return ExitStatus(error)
            }
            let refused = try await run(first, client, into: &ids)
            let alsoRefused = try await run(second, client, into: &ids)
            return refused ?? alsoRefused
        }
    }

    private func add(
        _ batch: DownloadList.Batch,
        _ client: ManagerClient
    ) async throws(ManagerError) -> [String] {
        guard batch.urls.count == 1, let url = batch.urls.first else {
            return try await client.addURLs(batch.urls, options: batch.options)
        }
        return [try await client.addURL(url, options: batch.options)]
    }

    private static func place(of batch: DownloadList.Batch) -> String {
        guard let first = batch.lines.first, let last = batch.lines.last, first != last else {
            return "line \(batch.lines.first ?? 1)"
        }
        return "lines \(first) to \(last)"
    }

    /// The list with the options of the command line filled in and its folders from `/` on.
    private static func complete(
        _ list: DownloadList,
        _ defaults: AddOptions
    ) throws -> DownloadList {
        var list = list
        try list.change { entry in
            if let mistake = URLArgument.mistake(in: entry.url) {
                Output.complain("line \(entry.line): \(mistake)")
                throw ExitStatus.refusedURL.exit
            }
            let folder =
                try entry.options.directory.map(WorkingFolder.absolute) ?? defaults.directory
            entry.options.directory =
                try entry.subfolder.map { below in
                    guard let folder, !below.hasPrefix("/") else {
                        return try WorkingFolder.absolute(below)
                    }
                    return folder + "/" + below
                } ?? folder
            entry.options.fill(from: defaults)
        }
        return list
    }
}

extension DownloadList.Batch {
    /// Whether an error is over one of the URLs, and not over what all have in common.
    fileprivate func isRefusedForOne(_ error: ManagerError) -> Bool {
        switch error.code {
        case .invalidURL, .unsupportedScheme, .fileExists: true
        // In the form that the limit is for, a character may take three times its room.
        case .limitExceeded: urls.contains { $0.utf8.count * 3 > Contract.maximumURLBytes }
        default: false
        }
    }
}

extension AddOptions {
    /// Takes over what is not given here.
    fileprivate mutating func fill(from defaults: AddOptions) {
        paused = paused ?? defaults.paused
        priority = priority ?? defaults.priority
        connections = connections ?? defaults.connections
        speedLimit = speedLimit ?? defaults.speedLimit
        referrer = referrer ?? defaults.referrer
        userAgent = userAgent ?? defaults.userAgent
        onExisting = onExisting ?? defaults.onExisting
        whenDone = whenDone ?? defaults.whenDone
        let names = Set(headers.map { $0.name.lowercased() })
        headers += defaults.headers.filter { !names.contains($0.name.lowercased()) }
    }
}
