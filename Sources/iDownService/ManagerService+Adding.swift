// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus
import iDownData
import iDownSettings
import iDownState
import iDownloader

extension ManagerService {
    package nonisolated func addURL(
        _ url: String,
        options: AddOptions,
        call: Call,
        answer: @escaping @Sendable (Result<String, ManagerError>) -> Void
    ) {
        coordinator.executor.run {
            self.assumeIsolated { service in
                service.add(.urls([url], isList: false), options, call) { result in
                    answer(self.named(result.flatMap(Self.onlyID)))
                }
            }
        }
    }

    package func addURLs(
        _ urls: [String],
        options: AddOptions,
        call: Call
    ) async throws(ManagerError) -> [String] {
        try await named {
            try await add(.urls(urls, isList: true), options, call).map(\.description)
        }
    }

    package func addMany(
        _ downloads: [NewDownload],
        call: Call
    ) async throws(ManagerError) -> [String] {
        try await named {
            try await add(.many(downloads), AddOptions(), call).map(\.description)
        }
    }

    package func addMetalink(
        at path: String,
        options: AddOptions,
        call: Call
    ) async throws(ManagerError) -> [String] {
        try await named {
            try await permit(call, butOthersMay: "add URLs, but no metalink of this machine")
            return try await add(.metalink(path), options, call).map(\.description)
        }
    }

    /// Adds what a call wants, behind what its sender wanted before.
    func add(
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
        answer: @escaping @Sendable (Result<[TaskID], any Error>) -> Void
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
