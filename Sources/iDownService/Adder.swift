// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownSettings
import iDownState
import iDownloader

/// A call that adds tasks.
struct AddCall: Sendable {
    enum Downloads: Sendable {
        /// URLs; in a list, an error names the position of its URL.
        case urls([String], isList: Bool)
        /// Downloads, each with options of its own and possibly a token of its own.
        case many([NewDownload])
        /// The path of a local metalink.
        case metalink(String)
        /// The URIs that a person opened.
        case opened([String])
    }

    let downloads: Downloads
    let options: AddOptions
    let call: Call
    /// Receives the ids or the error; called once.
    let answer: Answer<[TaskID]>
}

/// Checks the calls that add tasks, those of each client in order, and passes on the tasks.
///
/// Such calls come by the thousand. One Swift task per client checks its calls one after the other;
/// their tasks are committed together, and that commit answers each call. With one Swift task per
/// call, the waits for its folder, its turn and its commit each changed threads twice, which was
/// most of the cost of a call.
final class Adder {
    /// The calls that are not being checked yet, by client.
    private var waiting: [String: [AddCall]] = [:]
    /// The Swift task that checks the calls of each client; it ends when no call is left.
    private var judges: [String: Task<Void, Never>] = [:]

    /// Queues a call behind the earlier calls of its sender.
    func append(_ call: AddCall, in service: isolated ManagerService) {
        let client = call.call.sender?.rawValue ?? ""
        waiting[client, default: []].append(call)
        guard judges[client] == nil else { return }
        judges[client] = Task { await serve(client, in: service) }
    }

    private func serve(_ client: String, in service: isolated ManagerService) async {
        var count = 0
        while var calls = waiting.removeValue(forKey: client) {
            // An answer must not rest on a check that is older than the call: calls that come from
            // now on are in the next batch, which checks the folder again.
            var folder: CheckedFolder?
            // Calls are taken off the end one by one, so that the memory of each is freed once it
            // is checked.
            calls.reverse()
            while let asked = calls.popLast() {
                do {
                    try await serve(asked, &folder, in: service)
                } catch {
                    asked.answer(.failure(error))
                }
                count += 1
                // The bus serves other calls meanwhile.
                if count.isMultiple(of: Commits.piece) { await Task.yield() }
            }
        }
        judges[client] = nil
    }

    private func serve(
        _ asked: AddCall,
        _ folder: inout CheckedFolder?,
        in service: isolated ManagerService
    ) async throws {
        let caller = await service.callers.caller(of: asked.call)
        let owner = caller.owner
        var checker = service.optionChecker(for: owner)
        checker.addedBy = caller.applicationID
        if case .many(let downloads) = asked.downloads {
            return try await add(downloads, checker, asked, in: service)
        }
        let options = asked.options
        let token = options.token.map { Self.token($0, of: owner) }
        // A repeated call is answered like the first one, whatever has changed since.
        if let token, let ids = try await service.coordinator.ids(forToken: token) {
            return asked.answer(.success(ids))
        }
        let path = options.directory ?? service.directory
        if let folder, folder.path.utf8.elementsEqual(path.utf8), folder.rules == checker.rules {
            checker.folder = folder
        }
        let tasks: [NewTask] =
            switch asked.downloads {
            case .urls(let urls, let isList):
                try await checker.judge(urls, options, isList: isList)
            case .metalink(let path): try await checker.judge(metalinkAt: path, options)
            case .opened(let uris): try await checker.judge(opened: uris)
            case .many: []
            }
        if checker.folder == nil, let directory = tasks.first?.request.directory {
            folder = CheckedFolder(path: path, rules: checker.rules, directory: directory)
        }
        await service.coordinator.add(tasks, token: token, answer: asked.answer)
    }

    /// Adds downloads that each have options and a token of their own.
    private func add(
        _ downloads: [NewDownload],
        _ checker: OptionChecker,
        _ asked: AddCall,
        in service: isolated ManagerService
    ) async throws {
        let coordinator = service.coordinator
        // The downloads that were added before, by position.
        var known: [Int: TaskID] = [:]
        for (index, download) in downloads.enumerated() {
            guard let token = download.options.token else { continue }
            let ids = try await coordinator.ids(forToken: Self.token(token, of: checker.owner))
            known[index] = ids?.first
        }
        var tasks = try await checker.judge(downloads, except: Set(known.keys))
        for index in tasks.indices {
            tasks[index].token = tasks[index].token.map { Self.token($0, of: checker.owner) }
        }
        let answer = asked.answer
        await coordinator.add(tasks, token: nil) { [known] result in
            answer(
                result.map { ids in
                    var added = ids[...]
                    return downloads.indices.compactMap { known[$0] ?? added.popFirst() }
                }
            )
        }
    }

    /// Returns a token as the list stores it: applications do not share tokens.
    private static func token(_ token: String, of owner: String?) -> String {
        owner.map { "\($0) \(token)" } ?? token
    }
}
