// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownSettings
import iDownState
import iDownloader

extension ManagerService {
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
    ///   - options: The options for every file, as the client gave them.
    /// - Returns: One id per file, in the order of the metalink.
    /// - Throws: `InvalidOption` for an option of a single file; `AccessDenied` for a sandboxed
    ///   caller; what `addURLs` throws.
    func addMetalink(
        _ call: Call,
        _ path: String,
        _ options: [String: Value]
    ) async throws -> [String] {
        let decoded = try AddOptions(options)
        if let key = AddOptions.keyOfOneFile(in: options) {
            throw ManagerError(
                .invalidOption,
                "\(key) is for one file; a metalink says it of each of its files."
            )
        }
        try await permit(call, butOthersMay: "add URLs, but no metalink of this machine")
        return try await add(.metalink(path), decoded, call).map(\.description)
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

    private func add(
        _ downloads: AddCall.Downloads,
        _ options: AddOptions,
        _ call: Call
    ) async throws -> [TaskID] {
        try await withCheckedThrowingContinuation { continuation in
            add(downloads, options, call) { continuation.resume(with: $0) }
        }
    }

    /// Adds what a call asks for, after the earlier calls of its sender.
    ///
    /// Returns at once, because calls come by the thousand and no Swift task waits for each.
    ///
    /// - Parameters:
    ///   - downloads: What to add.
    ///   - options: The options, decoded.
    ///   - call: The call.
    ///   - answer: Takes the ids in the order of the downloads, or the error of the first bad one
    ///     or of the options; called exactly once, on any thread.
    nonisolated func add(
        _ downloads: AddCall.Downloads,
        _ options: AddOptions,
        _ call: Call,
        answer: @escaping Answer<[TaskID]>
    ) {
        begin { service in
            service.adder.append(
                AddCall(downloads: downloads, options: options, call: call, answer: answer),
                in: service
            )
        }
    }
}
