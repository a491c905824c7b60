// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownState
import iDownloader

/// Limits and carries out the calls of Probe.
final class Probes {
    /// The longest wait for a server.
    private static let patience: Duration = .seconds(60)

    /// The clients whose calls wait for an answer, by the number of the probe.
    private var running: [TaskID: String] = [:]
    private var last: Int64 = 0

    /// Asks a server about a file for a client.
    ///
    /// - Throws: `LimitExceeded` where too many calls wait already; the failure with which a task
    ///   would have ended.
    func ask(
        _ request: TaskRequest,
        for client: String,
        in service: isolated ManagerService
    ) async throws -> OfferedFile {
        let limits = Contract.pendingProbes
        let own = running.values.count { $0 == client }
        guard running.count < limits.all, own < limits.client else {
            throw ServiceRefusal.limitExceeded(
                "Too many servers are asked at once: at most \(limits.client) per client and"
                    + " \(limits.all) in all."
            )
        }
        last += 1
        // Ids of tasks count up from 1, so that no task has ever had one of these.
        guard let number = TaskID(rawValue: .max - last) else { throw StoreFailure.idsExhausted }
        running[number] = client
        defer { running[number] = nil }
        return try await service.engine.probe(request, as: number, within: Self.patience)
    }

    /// Refuses to ask a server while a mistake in the settings hides which proxy the user wants.
    static func check(in coordinator: isolated Coordinator) throws(Failure) {
        guard let mistake = coordinator.holds.settings.onSettings else { return }
        throw Failure(
            .networkUnreachable,
            "No server is asked before the settings file is right, since it may name a proxy:"
                + " \(mistake)"
        )
    }
}

extension ManagerService {
    /// Asks a server about a file, without downloading it or adding a task.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - url: The URL as the client gave it.
    ///   - options: The options with which the URL would be added.
    /// - Returns: What the server says.
    /// - Throws: `AccessDenied` for a sandboxed caller; `RequestFailed`; `LimitExceeded`.
    func probe(_ call: Call, _ url: String, _ options: AddOptions) async throws -> ProbedFile {
        try await permit(call)
        var options = options
        options.mirrors = []
        options.onExisting = nil
        var checker = optionChecker(for: nil)
        // A probe stores nothing, so no folder is checked or created.
        checker.folder = CheckedFolder(path: directory, rules: rules, directory: directory)
        guard let task = try await checker.judge([url], options, isList: false).first else {
            throw ManagerError(.failed, "The URL stands for no download. Please report this.")
        }
        try await Probes.check(in: coordinator)
        let client = call.sender?.rawValue ?? ""
        call.endWithCaller()
        let file = try await probes.ask(task.request, for: client, in: self)
        return ProbedFile(
            name: file.name,
            size: file.version.total.map { UInt64(clamping: $0) },
            type: file.version.mimeType,
            resumable: file.version.isResumable,
            url: file.url
        )
    }
}
