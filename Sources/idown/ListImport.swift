// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownSettings
import iDownView

/// Adds a list of downloads in as few calls as possible.
struct ListImport {
    /// The name of the list in messages.
    private let name: String
    private let unit: String
    private var list: DownloadList
    private let skipsCompleted: Bool
    /// The exit code for entries that cannot be read or are not URLs; nil if there are none.
    private var mistake: ExitStatus?

    /// Reads a list from a file.
    ///
    /// - Parameters:
    ///   - path: The file; `-` is standard input.
    ///   - defaults: The options of the command line, which apply where the list sets none.
    ///   - cookies: The cookies of the command line.
    ///   - skipsCompleted: Whether a URL whose file is completed is not added.
    /// - Throws: `ExitCode` after printing what is wrong with the list.
    init(
        _ path: String,
        defaults: AddOptions,
        cookies: CookieFile?,
        skipsCompleted: Bool
    ) throws {
        name = InputFile.name(of: path)
        self.skipsCompleted = skipsCompleted
        let text = try InputFile.text(of: path)
        do {
            list = try DownloadList(textOrJSON: text)
        } catch {
            Output.complain("\(name): \(error)")
            throw ExitStatus.refusedOption.exit
        }
        for (option, line) in list.ignored.sorted(by: { $0.value < $1.value }) {
            Output.complain("\(name): line \(line): idown has no option \(option); ignored")
        }
        for mistake in list.mistakes {
            let entry = mistake.entry.map { "; the download of line \($0) is not added" } ?? ""
            let place = "\(list.unit) \(mistake.line)"
            Output.complain("\(name): \(place): \(mistake.reason)\(entry)")
        }
        if list.entries.isEmpty, list.mistakes.isEmpty {
            Output.complain("\(name): there is no URL in it")
        }
        unit = list.unit
        let count = list.entries.count
        try list.entries = list.entries.compactMap { try complete($0, defaults, cookies) }
        mistake =
            if !list.mistakes.isEmpty {
                .refusedOption
            } else if list.entries.count < count {
                .refusedURL
            } else {
                nil
            }
    }

    /// Adds the downloads that the service accepts, and prints the lines of the refused ones.
    ///
    /// - Parameters:
    ///   - client: The service.
    ///   - ids: Gets the IDs in the order of the list.
    /// - Returns: The code of the first refusal.
    /// - Throws: ``ManagerError`` if the service can no longer be reached.
    func run(_ client: ManagerClient, into ids: inout [String]) async throws -> ExitStatus? {
        var failure = mistake
        let batches = try await batches(client)
        let listed = try await ListedDownloads(
            client,
            for: batches.flatMap { batch in
                let options = batch.downloads.map(\.options)
                return batch.hasCommonOptions ? Array(options.prefix(1)) : options
            },
            skipsCompleted: skipsCompleted
        )
        // The batches are added one by one, so that the queue has the order of the list.
        for batch in batches {
            let refused = try await run(batch, listed, into: &ids)
            failure = failure ?? refused
        }
        return failure
    }

    /// Returns the entries in as few calls as possible, with the service's download folder where the
    /// list has only a folder below it.
    private func batches(_ client: ManagerClient) async throws -> [DownloadList.Batch] {
        var list = list
        guard list.entries.contains(where: { $0.subfolder != nil }),
            case .text(let folder?) = try await client.value(of: .downloadDirectory)
        else { return batches(of: list) }
        Disk.wait(for: folder)
        for place in list.entries.indices where list.entries[place].subfolder != nil {
            try list.entries[place].complete(
                from: AddOptions(),
                below: folder,
                WorkingFolder.absolute
            )
        }
        return batches(of: list)
    }

    private func batches(of list: DownloadList) -> [DownloadList.Batch] {
        // The file that such a download may have is read before the call, once.
        list.batches { skipsCompleted && $0.checksum != nil }
    }

    /// Adds a batch, which the service does as a whole or not at all.
    ///
    /// A batch with a refused download is added in parts: half as many where the service refuses one,
    /// until the bad download is alone, and twice as many after each that is added.
    private func run(
        _ batch: DownloadList.Batch,
        _ listed: ListedDownloads,
        into ids: inout [String]
    ) async throws(ManagerError) -> ExitStatus? {
        var failure: ExitStatus?
        func complain(_ place: String, _ error: ManagerError) {
            Output.complain("\(name): \(place): \(error)")
            failure = failure ?? ExitStatus(error)
        }
        var (start, most) = (0, batch.downloads.count)
        while start < batch.downloads.count {
            let part = batch.part(from: start, atMost: most)
            let count = part.downloads.count
            do throws(ManagerError) {
                for (place, error) in try await listed.add(part.downloads, into: &ids) {
                    complain("\(unit) \(part.lines[place])", error)
                }
                most = count * 2
            } catch {
                guard !error.isUnreachable else { throw error }
                guard count == 1 || !part.isRefusedForOne(error) else {
                    most = count / 2
                    continue
                }
                complain(place(of: part), error)
            }
            start += count
        }
        return failure
    }

    private func place(of batch: DownloadList.Batch) -> String {
        guard let first = batch.lines.first, let last = batch.lines.last, first != last else {
            return "\(unit) \(batch.lines.first ?? 1)"
        }
        return "\(unit)s \(first) to \(last)"
    }

    /// Returns an entry with the options of the command line filled in and its folder made
    /// absolute; nil, after a message, if it is not a URL.
    private func complete(
        _ entry: DownloadList.Entry,
        _ defaults: AddOptions,
        _ cookies: CookieFile?
    ) throws -> DownloadList.Entry? {
        var entry = entry
        func complain(_ text: String) {
            Output.complain("\(name): \(unit) \(entry.line): \(text)")
        }
        if let url = URLText.completed(entry.url) {
            complain("assuming \(ShownURL(url))")
            entry.url = url
        } else if let mistake = DownloadArgument.mistake(in: entry.url) {
            complain(mistake)
            return nil
        }
        if entry.url.contains(" ") { complain("the URL has a blank, which is sent as %20") }
        try entry.complete(from: defaults, WorkingFolder.absolute)
        if !entry.options.headers.contains(where: { $0.name.lowercased() == "cookie" }) {
            entry.options = try AddingArguments.fill(entry.options, from: cookies, for: entry.url)
        }
        return entry
    }
}

extension DownloadList.Batch {
    /// Whether an error is about one of the downloads rather than about all of them.
    fileprivate func isRefusedForOne(_ error: ManagerError) -> Bool {
        switch error.code {
        case .invalidURL, .unsupportedScheme, .fileExists: true
        case .storeFailed, .stopping: false
        case _ where !hasCommonOptions || downloads.contains { !$0.options.keysOfOneFile.isEmpty }:
            true
        // The limit is for the encoded form, in which a character may take three times its bytes.
        case .limitExceeded:
            downloads.contains { $0.url.utf8.count * 3 > Contract.maximumURLBytes }
        default: false
        }
    }
}
