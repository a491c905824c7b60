// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

extension ServiceUnderTest {
    /// The service as a program sees it.
    var client: ManagerClient { ManagerClient(connection) }

    /// Adds a download, which has one connection unless a test wants more: so it knows each
    /// request.
    func add(_ url: String, _ choose: (inout AddOptions) -> Void = { _ in }) async throws -> String
    {
        var options = AddOptions()
        options.connections = 1
        choose(&options)
        return try await client.addURL(url, options: options)
    }

    /// How much of a file is on disk: from 0 on in one piece.
    ///
    /// While the task runs that includes what no checkpoint has named yet.
    func recordedBytes(of id: String) async throws -> Int64 {
        let ranges = try await client.getTask(id).byteRanges
        guard let first = ranges.first else { return 0 }
        #expect(ranges.count == 1 && first.first == 0, "\(ranges)")
        return Int64(clamping: first.length)
    }

    /// Pauses a task, and waits until the record has all bytes that had come.
    ///
    /// The reply comes when the state is durable; the checkpoint follows.
    func pause(_ id: String, with bytes: Int64) async throws {
        try await client.pause(id)
        while true {
            let mark = signals.count
            guard try await recordedBytes(of: id) < bytes else { return }
            try await signals.first(after: mark, "the checkpoint of task \(id)") { signal in
                signal.member == "TaskChanged" && signal.arguments.first == .string(id)
            }
        }
    }

    /// A task of which one body is on its way and stands still.
    ///
    /// - Parameters:
    ///   - host: Serves the file with a hold.
    ///   - target: The URL's path and query.
    ///   - choose: Sets options.
    /// - Returns: The task's id.
    /// - Throws: What the service answers; ``TimedOut``.
    func addHeld(
        on host: ChangingHost,
        _ target: String = "/file.bin",
        _ choose: (inout AddOptions) -> Void = { _ in }
    ) async throws -> String {
        let id = try await add(host.url(target), choose)
        try await waitForState("downloading", of: id)
        return id
    }
}

/// What a refused call must leave as it is: the list and every file outside of the state folder.
struct Traces: Equatable {
    let tasks: [TaskProperties]
    let files: [String]

    static func of(_ service: ServiceUnderTest) async throws -> Traces {
        Traces(
            tasks: try await service.client.listTasks(),
            files: files(below: service.home.path).filter { !$0.hasPrefix(service.home.state) }
        )
    }

    private static func files(below folder: String) -> [String] {
        TestFile.names(in: folder).flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            return [path] + files(below: path)
        }
    }
}

/// The contract's name of the error that a call ends with.
///
/// - Returns: nil, and an issue, where it succeeds.
func refusal(
    _ comment: String = "",
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async -> ManagerError.Code? {
    do {
        try await body()
    } catch let error as ManagerError {
        return error.code
    } catch let error as BusError {
        return ManagerError(error).code
    } catch {
        Issue.record("\(comment): \(error)", sourceLocation: sourceLocation)
        return nil
    }
    Issue.record("\(comment): accepted", sourceLocation: sourceLocation)
    return nil
}
