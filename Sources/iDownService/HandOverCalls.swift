// SPDX-License-Identifier: Apache-2.0

import DBus
import Executors
import Logging
import iDownBus
import iDownSettings
import iDownState
import iDownloader

/// The HandOver calls that are being served.
///
/// If no call for a token gets an answer, the hand-over is taken back: the browser then downloads
/// the file itself.
final class HandOverCalls {
    /// The calls with one token.
    private struct Calls {
        var count = 0
        /// Whether one of these calls made the hand-over provisional.
        var isNew = false
        /// Whether one of these calls got its answer.
        var isAnswered = false
    }

    /// The calls by the bytes of their tokens: as texts, two Unicode forms are equal.
    private var tokens: [[UInt8]: Calls] = [:]

    /// Adds a download that a browser holds, as provisional, if the server gives idown the answer
    /// that it gave the browser.
    ///
    /// - Parameters:
    ///   - url: The URL as the client gave it.
    ///   - options: The options, decoded; they have a token.
    ///   - call: The call.
    ///   - answer: Takes the task's id or the error; called exactly once, on any thread.
    ///   - service: The owner.
    func begin(
        _ url: String,
        _ options: HandOverOptions,
        _ call: Call,
        _ answer: @escaping Answer<String>,
        in service: isolated ManagerService
    ) {
        let deadline = service.coordinator.time.now + HandOvers.patience
        Task { await serve(url, options, call, until: deadline, answer, in: service) }
    }

    private func serve(
        _ url: String,
        _ options: HandOverOptions,
        _ call: Call,
        until deadline: TimeAndChance.Instant,
        _ answer: Answer<String>,
        in service: isolated ManagerService
    ) async {
        let (token, coordinator) = (options.download.token ?? "", service.coordinator)
        let key = Array(token.utf8)
        var rest: Duration { max(.zero, deadline - coordinator.time.now) }
        tokens[key, default: Calls()].count += 1
        var isGone = false
        let late = ServiceRefusal.disagreed("The answer would come too late.")
        do {
            try await service.permit(call)
            let wish = try await wish(url, options, within: rest, in: service)
            if let proxy = options.proxy, !service.engine.goesThrough(proxy, to: url) {
                throw ServiceRefusal.disagreed("idown would go past the browser's proxy.")
            }
            let seen = SeenAnswer(options)
            let work = Task {
                try await coordinator.handOver(wish, token: token, seen: seen, until: deadline)
            }
            guard let result = await withTimeLimit(rest, { await work.result }) else {
                // The disk is slow. A hand-over that it stores later is taken back.
                answer(.failure(late))
                if (try? await work.value)?.isNew == true { tokens[key]?.isNew = true }
                return await leave(token, isGone: false, in: service)
            }
            let (id, isNew) = try result.get()
            if isNew { tokens[key]?.isNew = true }
            let isThere = await withTimeLimit(rest) { await !call.isForNobody }
            isGone = isThere == false
            guard isThere == true, rest > .zero else { throw late }
            answer(.success(id.description))
            // The bus handles messages in order: once it answers this query, it has the answer
            // above.
            let isSent = await withTimeLimit(rest) { await call.isForNobody } != nil
            if isSent { tokens[key]?.isAnswered = true }
            await leave(token, isGone: !isSent, in: service)
        } catch {
            answer(.failure(error))
            await leave(token, isGone: isGone, in: service)
        }
    }

    /// Ends a call, and takes the hand-over back if this was its last call and none got an answer.
    ///
    /// - Parameters:
    ///   - token: the call's token.
    ///   - isGone: whether the caller has left the bus, so that its token is not used again.
    ///   - service: the owner.
    private func leave(_ token: String, isGone: Bool, in service: isolated ManagerService) async {
        let key = Array(token.utf8)
        guard var calls = tokens[key] else { return }
        calls.count -= 1
        tokens[key] = calls.count > 0 ? calls : nil
        guard calls.count == 0, calls.isNew, !calls.isAnswered else { return }
        do {
            try await service.coordinator.takeBackHandOver(token, forEver: isGone)
        } catch {
            service.log.warning("a hand-over could not be taken back: \(ManagerError(error))")
        }
    }

    /// Returns the task to store for a hand-over.
    ///
    /// A web page may have chosen the download, so it uses no stored logins and goes into the
    /// folder for downloads.
    private func wish(
        _ url: String,
        _ options: HandOverOptions,
        within limit: Duration,
        in service: isolated ManagerService
    ) async throws -> NewTask {
        var checker = service.optionChecker(for: nil, isEnclosed: true)
        checker.addedBy = "browser"
        var download = options.download
        // Whether the name is taken is checked when the file gets it.
        download.onExisting = nil
        // The disk of the folder may hang.
        let judged = try await withTimeLimit(limit) { [checker, download] in
            try await checker.judge([url], download, isList: false)
        }
        guard var task = judged?.first else {
            throw ServiceRefusal.disagreed("The folder for downloads does not answer.")
        }
        task.request.onExisting = options.download.onExisting == .fail ? .fail : .rename
        task.request.usesStoredLogins = false
        task.request.isPrivate = options.isPrivate
        task.request.fileName = options.suggestedName.flatMap { FileName(sanitizing: $0)?.text }
        return task
    }
}

extension SeenAnswer {
    fileprivate init(_ options: HandOverOptions) {
        self.init(status: options.status.map { Int($0) })
        size = options.size.map { Int64(clamping: $0) }
        entityTag = options.entityTag
        lastModified = options.lastModified
        mimeType = options.mimeType
    }
}
