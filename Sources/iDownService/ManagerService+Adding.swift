// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus
import iDownData
import iDownState
import iDownloader

/// A call that adds something.
struct AddCall: Sendable {
    enum Wish: Sendable {
        /// In a list each has a place, by which an error names it.
        case urls([String], isList: Bool)
        /// The path of a metalink of this machine.
        case metalink(String)
        /// What a person opened.
        case opened([String])
    }

    let wish: Wish
    let options: AddOptions
    let call: Call
    /// Called once.
    let answer: @Sendable (Result<[TaskID], any Error>) -> Void
}

// Calls to add come by the thousand. One Swift task per client judges its calls one after the
// other; what was judged is committed together, and that commit answers each call. With one Swift
// task per call, the waits for its folder, its turn and its commit each changed threads twice, and
// that was most of what a call cost.
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
        let client = call.sender?.rawValue ?? ""
        let asked = AddCall(wish: wish, options: options, call: call, answer: answer)
        guard adding.append(asked, from: client) else { return }
        adders[client] = Task { await serve(client) }
    }

    private static func onlyID(_ ids: [TaskID]) -> Result<String, any Error> {
        guard let id = ids.first else {
            return .failure(ManagerError(.failed, "The service added no task. Please report this."))
        }
        return .success(id.description)
    }

    // MARK: In turn

    /// Judges what a client wants to be added, call by call, and hands each in at once.
    private func serve(_ client: String) async {
        var look: FolderLook?
        while let (number, asked) = adding.takeFirst(of: client) {
            // Nobody gets an answer that is older than the question.
            if let last = look?.last, last < number { look = nil }
            do {
                try await serve(asked, client, &look)
            } catch {
                asked.answer(.failure(error))
            }
            // Others are served meanwhile.
            if number % Commits.piece == 0 { await Task.yield() }
        }
        adders[client] = nil
    }

    private func serve(
        _ asked: AddCall,
        _ client: String,
        _ look: inout FolderLook?
    ) async throws {
        var wishes = await wishes(for: callers.caller(of: asked.call).owner)
        let options = asked.options
        // A token means one thing to one application.
        let token = options.token.map { token in wishes.owner.map { "\($0) \(token)" } ?? token }
        // A blind repeat is answered as the first call was, whatever has changed since.
        if let token, let ids = try await coordinator.ids(forToken: token) {
            return asked.answer(.success(ids))
        }
        let path = options.directory ?? directory
        if let look, look.path.utf8.elementsEqual(path.utf8), look.rules == wishes.rules {
            wishes.look = look
        }
        let last = adding.last(of: client)
        let tasks =
            switch asked.wish {
            case .urls(let urls, let isList):
                try await wishes.judge(urls, options, isList: isList)
            case .metalink(let path): try await wishes.judge(metalinkAt: path, options)
            case .opened(let uris): try await wishes.judge(opened: uris)
            }
        if wishes.look == nil, let directory = tasks.first?.request.directory {
            look = FolderLook(path: path, rules: wishes.rules, directory: directory, last: last)
        }
        await coordinator.add(tasks, token: token, answer: asked.answer)
    }

    /// Judges what a caller wants, by its rights.
    private func wishes(for owner: String?) -> Wishes {
        var rules = rules
        if owner != nil { rules.enclosingFolder = directory }
        return Wishes(
            engine: engine,
            downloadDirectory: directory,
            rules: rules,
            retryFor: Int64(settings.retryFor),
            owner: owner
        )
    }
}
