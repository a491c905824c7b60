// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownBus
import iDownView

/// Connects the live list with the service and the terminal; takes their news one by one.
struct ListWatch {
    enum End {
        case quit
        case signal(CInt)
        case failed(String)
        /// The session bus went away.
        case lost(String)
    }

    private enum News: Sendable {
        case sign(TerminalSignals.Sign)
        case list(ListNews)
        /// The list could not be loaded.
        case unlisted(ManagerError)
        case outcome(Result<String, any Error>)
        /// All properties of the task whose details are shown; nil if the service did not tell them.
        case details(TaskProperties?)
        case redraw
        case regained
    }

    private let client: ManagerClient
    private let signals: TerminalSignals
    private let news: AsyncStream<News>
    private let post: AsyncStream<News>.Continuation
    private var screen: ListScreen
    private var work: [Task<Void, Never>] = []
    /// The calls that the user's keys have caused.
    private var requests: [Task<Void, Never>] = []
    private var isRedrawDue = false
    /// Reads in a row without a byte: a terminal that is gone is always readable, but gives none.
    private var emptyReads = 0
    /// Follows the list; ends by itself if the list cannot be loaded.
    private var follower: Task<Void, Never>?
    /// Whether the service has left and is not back yet.
    private var hasLost = false
    /// Whether the service was asked for the details, and whether the task changed since.
    private var isAskedForDetails = false
    private var haveDetailsChanged = false

    /// Shows the list until the user or a signal ends it, then restores the terminal.
    static func run(
        _ client: ManagerClient,
        isColored: Bool,
        usesMouse: Bool
    ) async throws -> End {
        var terminal: CursesScreen
        do {
            terminal = try CursesScreen(isColored: isColored, usesMouse: usesMouse)
        } catch {
            return .failed(error.description)
        }
        let (news, post) = AsyncStream.makeStream(of: News.self)
        var watch = ListWatch(
            client: client,
            signals: await TerminalSignals.start(),
            news: news,
            post: post,
            screen: ListScreen()
        )
        watch.listen()
        let end = await watch.loop(&terminal)
        watch.stop()
        terminal.close()
        await watch.finishRequests()
        return end
    }

    private init(
        client: ManagerClient,
        signals: TerminalSignals,
        news: AsyncStream<News>,
        post: AsyncStream<News>.Continuation,
        screen: ListScreen
    ) {
        self.client = client
        self.signals = signals
        self.news = news
        self.post = post
        self.screen = screen
    }

    private mutating func loop(_ terminal: inout CursesScreen) async -> End {
        load()
        draw(terminal)
        for await item in news {
            switch item {
            case .sign(.input):
                if let end = readKeys(&terminal) { return end }
                draw(terminal)
                signals.resume()
            case .sign(.resized):
                terminal.resize()
                draw(terminal)
            case .sign(.continued):
                // First ncurses takes the terminal back, on the thread that was stopped.
                run { post in
                    try? await Task.sleep(for: Self.pace)
                    post.yield(.regained)
                }
            case .regained:
                // In the background it must not draw over the shell's line.
                guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { continue }
                terminal.regain()
                draw(terminal)
            case .sign(.ended(let number)): return .signal(number)
            case .list(let news):
                let wasLoading = screen.list.content() == .loading
                let isVisible = apply(news)
                if wasLoading, screen.list.content() != .loading {
                    draw(terminal)
                } else if isVisible {
                    redrawSoon()
                }
            case .unlisted(let error):
                screen.list.fail(error.description)
                draw(terminal)
            case .outcome(.success(let text)):
                screen.succeed(text)
                redrawSoon()
            case .outcome(.failure(let error)):
                screen.fail("\(error)")
                redrawSoon()
            case .details(let task):
                isAskedForDetails = false
                if let task, screen.list[task.id] != nil { screen.list.apply(.page([task])) }
                if haveDetailsChanged { lookAtDetails() }
                redrawSoon()
            case .redraw: draw(terminal)
            }
        }
        return .lost("the session bus went away; the downloads go on without it")
    }

    /// Carries out the keys that were pressed; returns how the list ends, if it does.
    private mutating func readKeys(_ terminal: inout CursesScreen) -> End? {
        let reads = terminal.reads
        while let key = terminal.nextKey() {
            for request in screen.press(key) {
                guard request != .quit else { return .quit }
                ask(request)
            }
        }
        emptyReads = terminal.reads == reads ? emptyReads + 1 : 0
        return emptyReads < Self.mostEmptyReads ? nil : .signal(SIGHUP)
    }

    /// Applies news to the list; returns whether the user may see a change.
    private mutating func apply(_ news: ListNews) -> Bool {
        let before = shownTask
        screen.list.apply(news)
        if shownTask != before { lookAtDetails() }
        switch news {
        case .left:
            hasLost = true
            screen.fail("the service has ended; R starts it again")
        case .whole where hasLost:
            hasLost = false
            screen.succeed("the service is back")
        case .page([]), .removed([]), .whole, .came: return false
        default: break
        }
        return true
    }

    /// More than a single Esc causes, which reads as nothing while it may begin a longer key.
    private static let mostEmptyReads = 100

    // MARK: Drawing

    /// Ten frames per second are enough, even for hundreds of changes.
    private static let pace: Duration = .milliseconds(100)

    private mutating func redrawSoon() {
        guard !isRedrawDue else { return }
        isRedrawDue = true
        run { post in
            try? await Task.sleep(for: Self.pace)
            post.yield(.redraw)
        }
    }

    private mutating func draw(_ terminal: borrowing CursesScreen) {
        isRedrawDue = false
        let size = terminal.size
        terminal.draw(
            screen.frame(width: size.width, height: size.height, time: LocalTime.text)
        )
    }

    // MARK: Work beside the screen

    private mutating func listen() {
        let signs = signals.signs
        run { post in
            for await sign in signs { post.yield(.sign(sign)) }
        }
    }

    /// Follows the list from the beginning.
    private mutating func load() {
        follower?.cancel()
        let (client, post) = (client, post)
        follower = Task {
            do throws(ManagerError) {
                for try await news in client.listNews() where !Task.isCancelled {
                    post.yield(.list(news))
                }
                if !Task.isCancelled { post.finish() }
            } catch {
                if !Task.isCancelled { post.yield(.unlisted(error)) }
            }
        }
    }

    /// The task whose details are shown.
    private var shownTask: TaskProperties? { screen.detailed.flatMap { screen.list[$0] } }

    /// Asks the service for the task whose details are shown.
    ///
    /// One call is under way at a time; if the task changes meanwhile, another call follows.
    private mutating func lookAtDetails() {
        haveDetailsChanged = isAskedForDetails
        guard !isAskedForDetails, let id = screen.detailed else { return }
        isAskedForDetails = true
        let client = client
        run { post in post.yield(.details(try? await client.getTask(id))) }
    }

    private mutating func ask(_ request: ListRequest) {
        switch request {
        case .reload: return load()
        case .details: return lookAtDetails()
        default: break
        }
        screen.begin(request)
        if requests.count > Self.mostWork { requests.removeFirst(requests.count / 2) }
        let (client, post) = (client, post)
        requests.append(
            Task {
                do {
                    post.yield(.outcome(.success(try await client.carryOut(request))))
                } catch {
                    post.yield(.outcome(.failure(error)))
                }
            }
        )
    }

    /// Runs work that is cancelled when the live list ends.
    private mutating func run(
        _ body: @escaping @Sendable (AsyncStream<News>.Continuation) async -> Void
    ) {
        if work.count > Self.mostWork { work.removeFirst(work.count / 2) }
        let post = post
        work.append(Task { await body(post) })
    }

    private static let mostWork = 1_000

    private func stop() {
        follower?.cancel()
        for piece in work { piece.cancel() }
        signals.stop()
    }

    /// Waits for the answers to what was asked just before the end, such as `P` before `q`.
    private func finishRequests() async {
        let requests = requests
        let limit = Task {
            try await Task.sleep(for: Self.mostWaiting)
            for request in requests { request.cancel() }
        }
        for request in requests { await request.value }
        limit.cancel()
    }

    /// How long to wait: longer than a healthy service takes, and short enough after `q`.
    private static let mostWaiting: Duration = .seconds(2)
}

extension ManagerClient {
    /// Carries out a request of the live list.
    ///
    /// - Returns: A message; empty if the list itself shows the result.
    fileprivate func carryOut(_ request: ListRequest) async throws -> String {
        switch request {
        case .verb(let verb, let ids): try await carryOut(verb, ids)
        case .startAll: "\(try await startAll()) downloads started"
        case .pauseAll: "\(try await pauseAll()) downloads paused"
        case .clearCompleted: "\(try await clearCompleted()) downloads cleared from the list"
        case .add(let urls):
            urls.count == 1
                ? "added as download \(try await addURL(urls[0]))"
                : "added \(try await addURLs(urls).count) downloads"
        case .details, .reload, .quit: ""
        }
    }

    private func carryOut(_ verb: ListVerb, _ ids: [String]) async throws -> String {
        switch verb {
        case .pause, .resume, .retry, .cancel, .remove, .trash:
            guard let id = ids.first, ids.count == 1 else {
                let count = try await apply(verb, toAll: ids)
                return "\(verb.title()): \(count) of \(ids.count) downloads changed"
            }
            // The list shows the result.
            try await apply(verb, to: id)
            guard verb == .trash, try await hasTask(id) else { return "" }
            return "The file could not be moved to the trash; the download stays in the list."
        case .open, .reveal:
            var paths: [String] = []
            for id in ids {
                paths.append(try await FinishedFiles.path(of: id, self, isPatient: false))
            }
            if verb == .reveal {
                try await FinishedFiles.reveal(paths)
            } else {
                for path in paths { try await FinishedFiles.open(path) }
            }
            return ""
        }
    }
}
