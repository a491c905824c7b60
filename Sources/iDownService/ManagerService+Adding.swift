// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownSettings
import iDownState
import iDownloader

extension ManagerService {
    /// Adds a download; AddURL calls this without options.
    ///
    /// Returns at once, because calls come by the thousand and no Swift task waits for each.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - answer: Takes the task's id or the error; called exactly once, on any thread.
    ///   - url: The URL as the client gave it.
    ///   - options: The options, decoded.
    nonisolated func addURL(
        _ call: Call,
        _ answer: @escaping Answer<String>,
        _ url: String,
        _ options: AddOptions
    ) {
        begin { service in
            service.add(.urls([url], isList: false), options, call) { result in
                answer(result.flatMap(Self.onlyID))
            }
        }
    }

    /// Adds all URLs or none; with more than one URL, the options hold nothing that concerns a
    /// single file.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - answer: Takes one id per URL, in the same order, or the error of the first bad URL or of
    ///     the options; called exactly once, on any thread.
    ///   - urls: The URLs as the client gave them.
    ///   - options: The options, decoded.
    nonisolated func addURLs(
        _ call: Call,
        _ answer: @escaping Answer<[String]>,
        _ urls: [String],
        _ options: AddOptions
    ) {
        begin { service in
            service.add(.urls(urls, isList: true), options, call) { result in
                answer(result.map { $0.map(\.description) })
            }
        }
    }

    /// Adds all downloads, each with its own options, or none.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - downloads: The downloads, decoded.
    /// - Returns: One id per download, in the same order.
    /// - Throws: The error of the first bad download, with its place.
    func addMany(_ call: Call, _ downloads: [NewDownload]) async throws -> [String] {
        try await add(.many(downloads), AddOptions(), call).map(\.description)
    }

    /// Adds all files that a local metalink lists, or none.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - path: The path as the client gave it.
    ///   - options: The options for every file, without those for a single file.
    /// - Returns: One id per file, in the order of the metalink.
    /// - Throws: `AccessDenied` for a sandboxed caller, and what `addURLs` throws.
    func addMetalink(
        _ call: Call,
        _ path: String,
        _ options: AddOptions
    ) async throws -> [String] {
        try await permit(call, butOthersMay: "add URLs, but no metalink of this machine")
        return try await add(.metalink(path), options, call).map(\.description)
    }

    /// The most downloads that are shown after one Open, because nobody reads more names.
    private static let mostToldOfHandOver = 100

    /// Adds all that a person opened, or nothing: URLs, `idown:` links and local metalinks.
    func open(_ call: Call, _ uris: [String]) async throws {
        let ids = try await add(.opened(uris), AddOptions(), call)
        for id in ids.prefix(Self.mostToldOfHandOver) {
            if let task = try? await coordinator.task(id) { handedOver(task) }
        }
    }

    /// Adds what a call asks for, after the earlier calls of its sender.
    private func add(
        _ downloads: AddCall.Downloads,
        _ options: AddOptions,
        _ call: Call
    ) async throws -> [TaskID] {
        try await withCheckedThrowingContinuation { continuation in
            add(downloads, options, call) { continuation.resume(with: $0) }
        }
    }

    private func add(
        _ downloads: AddCall.Downloads,
        _ options: AddOptions,
        _ call: Call,
        answer: @escaping Answer<[TaskID]>
    ) {
        adder.append(
            AddCall(downloads: downloads, options: options, call: call, answer: answer),
            in: self
        )
    }

    private static func onlyID(_ ids: [TaskID]) -> Result<String, any Error> {
        guard let id = ids.first else {
            return .failure(ManagerError(.failed, "The service added no task. Please report this."))
        }
        return .success(id.description)
    }
}
