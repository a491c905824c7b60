// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownSettings
import iDownState
import iDownloader

/// A call that adds something.
struct AddCall: Sendable {
    enum Wish: Sendable {
        /// In a list each has a place, by which an error names it.
        case urls([String], isList: Bool)
        /// Each with its options and, if it has one, a token of its own.
        case many([NewDownload])
        /// The path of a metalink of this machine.
        case metalink(String)
        /// What a person opened.
        case opened([String])
    }

    let wish: Wish
    let options: AddOptions
    let call: Call
    /// Called once.
    let answer: Answer<[TaskID]>
}

/// Judges the calls that add something, those of one client in their order, and hands each in.
///
/// Calls to add come by the thousand. One Swift task per client judges its calls one after the
/// other; what was judged is committed together, and that commit answers each call. With one Swift
/// task per call, the waits for its folder, its turn and its commit each changed threads twice, and
/// that was most of what a call cost.
final class Adder {
    /// The calls that have come and are not being judged yet, by their clients.
    private var waiting: [String: [AddCall]] = [:]
    /// Who judges the calls of each client; ends by itself.
    private var judges: [String: Task<Void, Never>] = [:]

    /// Puts a call behind what its sender wanted before.
    func append(_ call: AddCall, in service: isolated ManagerService) {
        let client = call.call.sender?.rawValue ?? ""
        waiting[client, default: []].append(call)
        guard judges[client] == nil else { return }
        judges[client] = Task { await serve(client, in: service) }
    }

    private func serve(_ client: String, in service: isolated ManagerService) async {
        var count = 0
        while var calls = waiting.removeValue(forKey: client) {
            // Nobody gets an answer that is older than the question: calls that come from now on are
            // in the next batch, which looks again.
            var look: FolderLook?
            // Taken off the end one by one, so that each is let go once it is judged.
            calls.reverse()
            while let asked = calls.popLast() {
                do {
                    try await serve(asked, &look, in: service)
                } catch {
                    asked.answer(.failure(error))
                }
                count += 1
                // Others are served meanwhile.
                if count.isMultiple(of: Commits.piece) { await Task.yield() }
            }
        }
        judges[client] = nil
    }

    private func serve(
        _ asked: AddCall,
        _ look: inout FolderLook?,
        in service: isolated ManagerService
    ) async throws {
        let caller = await service.callers.caller(of: asked.call)
        let owner = caller.owner
        var wishes = service.wishes(for: owner)
        wishes.addedBy = caller.applicationID
        if case .many(let downloads) = asked.wish {
            return try await add(downloads, wishes, asked, in: service)
        }
        let options = asked.options
        let token = options.token.map { Self.token($0, of: owner) }
        // A blind repeat is answered as the first call was, whatever has changed since.
        if let token, let ids = try await service.coordinator.ids(forToken: token) {
            return asked.answer(.success(ids))
        }
        let path = options.directory ?? service.directory
        if let look, look.path.utf8.elementsEqual(path.utf8), look.rules == wishes.rules {
            wishes.look = look
        }
        let tasks: [NewTask] =
            switch asked.wish {
            case .urls(let urls, let isList):
                try await wishes.judge(urls, options, isList: isList)
            case .metalink(let path): try await wishes.judge(metalinkAt: path, options)
            case .opened(let uris): try await wishes.judge(opened: uris)
            case .many: []
            }
        if wishes.look == nil, let directory = tasks.first?.request.directory {
            look = FolderLook(path: path, rules: wishes.rules, directory: directory)
        }
        await service.coordinator.add(tasks, token: token, answer: asked.answer)
    }

    /// Adds downloads of which each has its own options and its own token.
    private func add(
        _ downloads: [NewDownload],
        _ wishes: Wishes,
        _ asked: AddCall,
        in service: isolated ManagerService
    ) async throws {
        let coordinator = service.coordinator
        // Those that were added before, by their places.
        var known: [Int: TaskID] = [:]
        for (index, download) in downloads.enumerated() {
            guard let token = download.options.token else { continue }
            let ids = try await coordinator.ids(forToken: Self.token(token, of: wishes.owner))
            known[index] = ids?.first
        }
        var tasks = try await wishes.judge(downloads, except: Set(known.keys))
        for index in tasks.indices {
            tasks[index].token = tasks[index].token.map { Self.token($0, of: wishes.owner) }
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

    /// What a token stands for in the list: one thing to one application.
    private static func token(_ token: String, of owner: String?) -> String {
        owner.map { "\($0) \(token)" } ?? token
    }
}
