// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// Keeps the rows in step with the service: loads pages and counts, and follows the signals.
final class ListFeed {
    /// Whether there are rows to show, or what to show in their place.
    enum Phase: Hashable {
        case loading, loaded
        /// The list could not be loaded; the text tells why.
        case failed(String)
    }

    let client: ManagerClient
    let pulse: Pulse
    private let model = RowModel.shared
    private let announcer: Announcer
    private(set) var phase = Phase.loading
    /// Whether the service has left the bus and has not come back.
    private(set) var hasServiceLeft = false
    private(set) var counts: [TaskProperties.State: Int] = [:]
    /// The measured speeds of running downloads by id, for the plot.
    private(set) var speeds: [String: SpeedSamples] = [:]

    /// Called with the ids of downloads whose rows must be redrawn.
    var rowsChanged: (Set<String>) -> Void = { _ in }
    /// Called when the phase, the length of the list, or the counts have changed.
    var listChanged: () -> Void = {}
    /// Tells the user of an error.
    var say: (String) -> Void = { _ in }
    /// Called when the service does not know the order, as an older version may not.
    var orderRefused: () -> Void = {}
    /// Returns the rows on the screen and those near it.
    var lookedAt: () -> Range<Int> = { 0..<0 }

    private var follower: Task<Void, Never>?
    private var dirty: Set<String> = []
    private var isFlushing = false
    private var isStale = false
    private var areCountsStale = false
    private var refresher: Task<Void, Never>?
    private var watcher: Task<Void, Never>?
    private var lastNews = ContinuousClock.now
    /// How long no news may arrive while downloads run: usually they arrive twice a second.
    private static let silence: Duration = .seconds(5)

    /// The shortest time between two redraws of rows.
    private static let pace: Duration = .milliseconds(250)
    /// The shortest time between two loads of the list.
    private static let refreshPace: Duration = .milliseconds(200)
    /// When rows are ordered by progress or time left, the pause after a load is this many times as
    /// long as the load itself, at most ``longestRest``.
    ///
    /// Such rows move with every step of a download, and the service takes long to sort 100,000 of
    /// them.
    private static let rest = 10
    private static let longestRest: Duration = .seconds(2)

    init(_ client: ManagerClient, _ announcer: Announcer, _ pulse: Pulse) {
        self.client = client
        self.pulse = pulse
        self.announcer = announcer
        model.ask = { [weak self] questions in
            guard let self else { return }
            for question in questions { Task { await self.ask(question) } }
        }
        model.askForIDs = { [weak self] in self?.choose($0) }
    }

    /// Starts to follow the list, and loads it again.
    func start() {
        follower?.cancel()
        endRefresh()
        phase = .loading
        let client = client
        follower = Task { [weak self] in
            do throws(ManagerError) {
                for try await news in client.listSignals() {
                    guard let self, !Task.isCancelled else { return }
                    self.take(news)
                }
            } catch {
                if !Task.isCancelled { self?.fail(error.text) }
            }
        }
    }

    private func take(_ news: ListNews) {
        lastNews = .now
        if case .left = news {
            hasServiceLeft = true
            // The window was opened to see the list, and asking for the list starts the service.
            if phase == .loading { recover() }
        }
        if case .anew = news { hasServiceLeft = false }
        let effect = model.apply(news)
        for id in effect.changed { sample(id) }
        announcer.tell(effect.changedState.compactMap { model.pages[$0] })
        hear(news)
        mark(effect.changed)
        guard effect.movesRows || effect.movesCounts else {
            if case .left = news { listChanged() }
            return
        }
        isStale = isStale || effect.movesRows
        areCountsStale = areCountsStale || effect.movesCounts
        refresh()
    }

    /// Passes changes of downloads whose rows are not loaded on to the announcer.
    private func hear(_ news: ListNews) {
        guard case .changed(let ids, let state, _) = news else { return }
        for id in ids where model.pages[id] == nil { announcer.hear(id, state) }
    }

    private func fail(_ text: String) {
        phase = .failed(text)
        listChanged()
    }

    /// Shows the list with another filter, search or order.
    func show(_ look: TaskPages.Look) {
        guard look != model.pages.look else { return }
        model.show(look)
        isStale = true
        endRefresh()
        refresh()
    }

    /// Loads the list and the counts again, because answers may have been lost.
    func recover() {
        isStale = true
        areCountsStale = true
        endRefresh()
        refresh()
    }

    /// Cancels the load under way and the pause after it.
    private func endRefresh() {
        refresher?.cancel()
        refresher = nil
    }

    /// Loads outdated rows and counts, now or after the load under way.
    private func refresh() {
        guard refresher == nil else { return }
        refresher = Task { [weak self] in
            while let self, self.isStale || self.areCountsStale, !Task.isCancelled {
                let start = ContinuousClock.now
                // Counts come first, because they are shown together with the rows.
                if self.areCountsStale {
                    self.areCountsStale = false
                    await self.count()
                    // The task that replaces this one has to count again.
                    if Task.isCancelled { self.areCountsStale = true }
                }
                if self.isStale {
                    self.isStale = false
                    await self.ask(self.model.reloadQuestion(for: self.lookedAt()))
                }
                let took = ContinuousClock.now - start
                let isMoving = [.progress, .timeLeft].contains(self.model.pages.look.sort)
                let rest = isMoving ? min(took * Self.rest, Self.longestRest) : .zero
                try? await Task.sleep(for: max(Self.refreshPace, rest))
            }
            if !Task.isCancelled { self?.refresher = nil }
        }
    }

    private func ask(_ question: TaskPages.Question) async {
        pulse.check()
        do throws(ManagerError) {
            let (tasks, total) = try await Self.find(question.query, client)
            let (changed, isOld) = model.take(tasks, total: Int(total), for: question)
            mark(changed)
            if isOld {
                isStale = true
                refresh()
            }
            let wasLoaded = phase == .loaded
            phase = .loaded
            if !wasLoaded || question.isReload { listChanged() }
        } catch {
            model.forget(question)
            // No error: the signals report that the service leaves, and when the next one starts;
            // ``pulse`` tells when one that hung goes on.
            guard error.code != .stopping, error.code != .noReply else { return }
            guard error.code == .invalidOption, model.pages.look.sort != .added else {
                return fail(error.text)
            }
            say(error.text)
            orderRefused()
        }
    }

    /// Loads a page off the main thread, which can draw meanwhile: decoding a page takes 5 ms.
    @concurrent
    private nonisolated static func find(
        _ query: TaskQuery,
        _ client: ManagerClient
    ) async throws(ManagerError) -> (page: [TaskProperties], total: UInt32) {
        try await client.findTasks(query)
    }

    private func count() async {
        let client = client
        await withTaskGroup(of: (TaskProperties.State, Int?).self) { group in
            for state in TaskProperties.State.known {
                group.addTask { (state, (try? await client.taskCount(in: state)).map(Int.init)) }
            }
            for await (state, count) in group {
                if let count { counts[state] = count }
            }
        }
        listChanged()
        watch()
    }

    /// While downloads run and no news of them arrive, asks whether the service still answers.
    private func watch() {
        guard watcher == nil else { return }
        watcher = Task { [weak self] in
            while let self, !self.hasServiceLeft, self.counts[.downloading] ?? 0 > 0 {
                try? await Task.sleep(for: Self.silence)
                if .now - self.lastNews > Self.silence { self.pulse.check() }
            }
            self?.watcher = nil
        }
    }

    /// Loads the ids of rows and selects them, unless the user selects something else meanwhile.
    private func choose(_ places: Range<Int>) {
        let (client, look, choices) = (client, model.pages.look, model.choices)
        // The places belong to rows that are about to be replaced.
        guard look == model.pages.shownLook else { return }
        var query = look.query
        query.properties = [.id]
        query.offset = UInt32(clamping: places.lowerBound)
        query.limit = UInt32(clamping: places.count)
        Task {
            do throws(ManagerError) {
                let tasks = try await client.findTasks(query).page
                guard model.choices == choices, model.pages.look == look else { return }
                // The answer may be older than news that has come.
                let ids = Set(tasks.compactMap { UInt64($0.id) }).subtracting(model.left ?? [])
                model.setChosen(model.chosen.union(ids))
            } catch { say(error.text) }
        }
    }

    /// Has the rows of these downloads redrawn within 250 ms.
    func mark(_ ids: [String]) {
        guard !ids.isEmpty else { return }
        dirty.formUnion(ids)
        guard !isFlushing else { return }
        isFlushing = true
        Task {
            try? await Task.sleep(for: Self.pace)
            isFlushing = false
            let ids = dirty
            dirty = []
            rowsChanged(ids)
        }
    }

    private func sample(_ id: String) {
        guard let task = model.pages[id] else { return speeds[id] = nil }
        guard task.state == .downloading else { return speeds[id] = nil }
        speeds[id, default: SpeedSamples()].add(task.speed)
    }
}

/// The speed of a download over the last minutes.
struct SpeedSamples {
    /// The speeds in bytes per second and the times of their measurement, the oldest first.
    private(set) var values: [(time: ContinuousClock.Instant, speed: UInt64)] = []

    /// The time that the plot shows.
    static let span: Duration = .seconds(180)

    mutating func add(_ speed: UInt64) {
        let now = ContinuousClock.now
        values.append((now, speed))
        if let first = values.first, now - first.time > Self.span { values.removeFirst() }
    }
}
