// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus
import iDownData
import iDownSettings
import iDownState
import iDownloader

extension ManagerService {
    package nonisolated func addURL(
        _ call: Call,
        _ answer: @escaping Answer<String>,
        _ url: String,
        _ options: AddOptions
    ) {
        coordinator.executor.run {
            self.assumeIsolated { service in
                service.add(.urls([url], isList: false), options, call) { result in
                    answer(result.flatMap(Self.onlyID))
                }
            }
        }
    }

    package nonisolated func addURLs(
        _ call: Call,
        _ answer: @escaping Answer<[String]>,
        _ urls: [String],
        _ options: AddOptions
    ) {
        coordinator.executor.run {
            self.assumeIsolated { service in
                service.add(.urls(urls, isList: true), options, call) { result in
                    answer(result.map { $0.map(\.description) })
                }
            }
        }
    }

    package func addMany(_ call: Call, _ downloads: [NewDownload]) async throws -> [String] {
        try await add(.many(downloads), AddOptions(), call).map(\.description)
    }

    package func addMetalink(
        _ call: Call,
        _ path: String,
        _ options: AddOptions
    ) async throws -> [String] {
        try await permit(call, butOthersMay: "add URLs, but no metalink of this machine")
        return try await add(.metalink(path), options, call).map(\.description)
    }

    /// Nobody reads more names than that.
    private static let mostToldOfHandOver = 100

    package func open(_ call: Call, _ uris: [String]) async throws {
        let ids = try await add(.opened(uris), AddOptions(), call)
        for id in ids.prefix(Self.mostToldOfHandOver) {
            if let task = try? await coordinator.task(id) { handedOver(task) }
        }
    }

    /// Adds what a call wants, behind what its sender wanted before.
    private func add(
        _ wish: AddCall.Wish,
        _ options: AddOptions,
        _ call: Call
    ) async throws -> [TaskID] {
        try await withCheckedThrowingContinuation { continuation in
            add(wish, options, call) { continuation.resume(with: $0) }
        }
    }

    private func add(
        _ wish: AddCall.Wish,
        _ options: AddOptions,
        _ call: Call,
        answer: @escaping Answer<[TaskID]>
    ) {
        adder.append(AddCall(wish: wish, options: options, call: call, answer: answer), in: self)
    }

    private static func onlyID(_ ids: [TaskID]) -> Result<String, any Error> {
        guard let id = ids.first else {
            return .failure(ManagerError(.failed, "The service added no task. Please report this."))
        }
        return .success(id.description)
    }
}
