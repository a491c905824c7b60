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
        /// Hands the download over, for all of these calls; or takes it back after them.
        var work: Task<(id: TaskID, isNew: Bool), any Error>
        var count = 0
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
        let (token, time) = (options.download.token ?? "", service.coordinator.time)
        let key = Array(token.utf8)
        var rest: Duration { max(.zero, deadline - time.now) }
        do {
            try await service.permit(call)
        } catch {
            return answer(.failure(error))
        }
        let work =
            tokens[key]?.work
            ?? Task { [rest] in
                let wish = try await wish(url, options, within: rest, in: service)
                return try await service.coordinator.handOver(
                    wish,
                    token: token,
                    seen: SeenAnswer(options),
                    until: deadline
                )
            }
        tokens[key, default: Calls(work: work)].count += 1
        var isGone = false
        do {
            // A disk may be slow. A hand-over that it stores later is taken back.
            guard let result = await withTimeLimit(rest, { await work.result }) else {
                throw Self.late
            }
            let id = try result.get().id
            let isThere = await withTimeLimit(rest) { await !call.isForNobody }
            isGone = isThere == false
            guard isThere == true, rest > .zero else { throw Self.late }
            answer(.success(id.description))
            // The bus handles messages in order: once it answers this query, it has the answer
            // above.
            isGone = await withTimeLimit(rest) { await call.isForNobody } == nil
            if !isGone { tokens[key]?.isAnswered = true }
        } catch {
            answer(.failure(error))
        }
        await leave(token, isGone: isGone, in: service)
    }

    private static let late = ServiceRefusal.disagreed("The answer would come too late.")

    /// Ends a call, and takes the hand-over back if this was its last call and none got an answer.
    ///
    /// - Parameters:
    ///   - token: the call's token.
    ///   - isGone: whether the caller has left the bus, so that its token is not used again.
    ///   - service: the owner.
    private func leave(_ token: String, isGone: Bool, in service: isolated ManagerService) async {
        let key = Array(token.utf8)
        let isNew = (try? await tokens[key]?.work.value)?.isNew == true
        tokens[key]?.count -= 1
        guard let calls = tokens[key], calls.count == 0 else { return }
        if isNew, !calls.isAnswered {
            // A new call with the token waits for the end of this, and is refused then.
            let work = Task { () async throws -> (id: TaskID, isNew: Bool) in
                do {
                    try await service.coordinator.takeBackHandOver(token, forEver: isGone)
                } catch {
                    let error = ManagerError(error)
                    service.log.warning("a hand-over could not be taken back: \(error)")
                }
                throw Self.late
            }
            tokens[key]?.work = work
            _ = await work.result
        }
        if tokens[key]?.count == 0 { tokens[key] = nil }
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
        if let proxy = options.proxy, !service.engine.goesThrough(proxy, to: url) {
            throw ServiceRefusal.disagreed("idown would go past the browser's proxy.")
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
