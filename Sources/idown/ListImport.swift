// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// Adds a list of downloads in as few calls as possible.
struct ListImport {
    private let batches: [DownloadList.Batch]

    /// Reads a list from a file.
    ///
    /// - Parameters:
    ///   - path: The file; `-` is standard input.
    ///   - defaults: The options of the command line, which apply where the list sets none.
    ///   - cookies: The cookies of the command line.
    /// - Returns: The list, ready to be added.
    /// - Throws: `ExitCode` after printing what is wrong with the list.
    static func read(
        _ path: String,
        defaults: AddOptions,
        cookies: CookieFile?
    ) throws -> ListImport {
        let name = InputFile.name(of: path)
        let text = try InputFile.text(of: path)
        let list: DownloadList
        do {
            list = try DownloadList(textOrJSON: text)
        } catch {
            Output.complain("\(name): \(error)")
            throw ExitStatus.refusedOption.exit
        }
        for (option, line) in list.ignored.sorted(by: { $0.value < $1.value }) {
            Output.complain("\(name): line \(line): idown has no option \(option); ignored")
        }
        return ListImport(
            batches: try complete(list, defaults, cookies).batches
        )
    }

    /// Adds the downloads that the service accepts, and prints the lines of the refused ones.
    ///
    /// - Parameters:
    ///   - client: The service.
    ///   - ids: Gets the IDs in the order of the list.
    /// - Returns: The code of the first refusal.
    /// - Throws: ``ManagerError`` if the service can no longer be reached.
    func run(_ client: ManagerClient, into ids: inout [String]) async throws -> ExitStatus? {
        var failure: ExitStatus?
        // The batches are added one by one, so that the queue has the order of the list.
        for batch in batches {
            let refused = try await run(batch, client, into: &ids)
            failure = failure ?? refused
        }
        return failure
    }

    /// Adds a batch, which the service does as a whole or not at all.
    ///
    /// A batch with a refused URL is halved until that URL is alone and all others are added.
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

    /// The list with the options of the command line filled in and its folders made absolute.
    private static func complete(
        _ list: DownloadList,
        _ defaults: AddOptions,
        _ cookies: CookieFile?
    ) throws -> DownloadList {
        var list = list
        try list.change { entry in
            if let mistake = DownloadArgument.mistake(in: entry.url) {
                Output.complain("line \(entry.line): \(mistake)")
                throw ExitStatus.refusedURL.exit
            }
            try entry.complete(from: defaults, WorkingFolder.absolute)
            if !entry.options.headers.contains(where: { $0.name.lowercased() == "cookie" }) {
                entry.options = try AddingArguments.fill(
                    entry.options,
                    from: cookies,
                    for: entry.url
                )
            }
        }
        return list
    }
}

extension DownloadList.Batch {
    /// Whether an error is about one of the URLs rather than about their common options.
    fileprivate func isRefusedForOne(_ error: ManagerError) -> Bool {
        switch error.code {
        case .invalidURL, .unsupportedScheme, .fileExists: true
        // The limit is for the encoded form, in which a character may take three times its bytes.
        case .limitExceeded: urls.contains { $0.utf8.count * 3 > Contract.maximumURLBytes }
        default: false
        }
    }
}
