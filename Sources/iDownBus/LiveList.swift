// SPDX-License-Identifier: Apache-2.0

public import DBus

/// A list of tasks that stays current by applying ``ManagerClient/listNews()``.
///
/// News about a task that are older than the list's own state are ignored.
///
/// ```swift
/// import iDownBus
///
/// let manager = try await ManagerClient.connect()
/// var list = LiveList()
/// for try await news in manager.listNews() {
///     list.apply(news)
///     guard list.isWhole else { continue }
///     print(list.tasks.count, "downloads,", list.isServed ? "up to date" : "the service has ended")
/// }
/// ```
public struct LiveList: Sendable {
    /// The change of one task: `old` is nil if it was unknown, `new` is nil if it is gone.
    public struct Change: Sendable {
        /// The task before the change; nil if it was unknown.
        public let old: TaskProperties?
        /// The task after the change; nil if it is gone.
        public let new: TaskProperties?
    }

    /// The tasks by their ids.
    public private(set) var tasks: [String: TaskProperties] = [:]
    /// Whether the list is complete; false until the first full answer.
    public private(set) var isWhole = false
    /// Whether the list follows a running service.
    ///
    /// False before the first news, and from the service's end until the list has caught up again.
    public private(set) var isServed = false
    /// The tasks that were doing something when the service stopped answering.
    ///
    /// A service that only hung does not tell again what has not changed.
    private var halted: [TaskProperties] = []
    /// The serial of the last complete answer; 0 before it, and from services without serials.
    private var serial: UInt64 = 0

    /// Creates an empty list.
    public init() {}

    /// Applies the next news; call it in the order in which they came.
    ///
    /// - Parameter news: An element of ``ManagerClient/listNews()``.
    /// - Returns: The changes of the tasks; empty if the list was cleared.
    @discardableResult
    public mutating func apply(_ news: ListNews) -> [Change] {
        switch news {
        case .anew:
            tasks = [:]
            halted = []
            serial = 0
            isWhole = false
            isServed = true
            return []
        // The list is current once the changes made meanwhile have been applied.
        case .came:
            halted = []
            return []
        case .page(let page): return page.compactMap { take($0) }
        case .added(let added):
            return added.compactMap { task in
                // One commit may add and start a task, with one serial for both: an answer with
                // that serial already contains both.
                let known = tasks[task.id]?.serial ?? 0
                return task.serial > 0 && task.serial <= known ? nil : take(task)
            }
        case .changed(let ids, let state, let common):
            return ids.compactMap { change($0, state, common) }
        case .removed(let ids): return ids.compactMap { remove($0) }
        case .whole(let serial):
            self.serial = serial
            isWhole = true
            isServed = true
            defer { halted = [] }
            return halted.compactMap { before in
                guard let old = tasks[before.id], old.serial == before.serial,
                    old.activity == .none
                else { return nil }
                tasks[old.id]?.activity = before.activity
                return Change(old: old, new: tasks[old.id])
            }
        case .left:
            isServed = false
            let running = tasks.values.filter { $0.speed > 0 || $0.activity != .none }
            halted += running
            return running.map { old in
                var new = old
                (new.speed, new.activity) = (0, .none)
                tasks[old.id] = new
                return Change(old: old, new: new)
            }
        }
    }

    private mutating func take(_ task: TaskProperties) -> Change? {
        let old = tasks[task.id]
        if let old {
            guard task.serial >= old.serial else { return nil }
        } else if task.serial > 0, task.serial <= serial {
            // The last complete answer had every remaining task up to its serial. A late page must
            // not bring back a removed task, because its removal may not be reported again.
            return nil
        }
        let new = old?.updated(by: task) ?? task
        tasks[task.id] = new
        return Change(old: old, new: new)
    }

    private mutating func change(
        _ id: String,
        _ state: TaskProperties.State,
        _ changed: [String: Value]
    ) -> Change? {
        guard let old = tasks[id] else { return nil }
        var new = old.applying(changed)
        new.state = state
        // Services before version 2 send no serials, and all news in order.
        guard new.serial >= old.serial else { return nil }
        tasks[id] = new
        return Change(old: old, new: new)
    }

    private mutating func remove(_ id: String) -> Change? {
        guard let old = tasks.removeValue(forKey: id) else { return nil }
        return Change(old: old, new: nil)
    }
}

/// News about the list, for ``LiveList/apply(_:)``.
public enum ListNews: Hashable, Sendable {
    /// Forget all tasks; pages of all tasks follow.
    ///
    /// From ``ManagerClient/listSignals()`` no pages follow: the client asks for them.
    case anew
    /// Tasks in their present state.
    case page([TaskProperties])
    /// Tasks that were added together after the news began.
    ///
    /// The URL and the referrer of a task that was added alone have no query.
    case added([TaskProperties])
    /// The ids of tasks that changed together, their state, and their changed properties with equal
    /// values.
    ///
    /// ``TaskProperties/applying(_:)`` applies these values to a known task.
    case changed([String], TaskProperties.State, [String: Value])
    /// The ids of tasks that were removed from the list.
    case removed([String])
    /// The list is complete up to this serial; 0 from services without serials.
    case whole(UInt64)
    /// The service has left the bus: the list stays as it is, but no task makes progress.
    case left
    /// The service is on the bus again; the changes made meanwhile follow.
    case came

    /// Reads a signal; nil for one that this version does not know, and for that of many added
    /// tasks, whose names and URLs it does not contain.
    package init?(_ signal: SignalMessage) {
        typealias Known = Contract.Signal
        if let (id, state, changed) = Known.taskChanged.contents(of: signal) {
            self = .changed([id], state, changed)
        } else if let (id, properties) = Known.taskAdded.contents(of: signal) {
            var task = properties
            task.id = id
            self = .added([task])
        } else if let id = Known.taskRemoved.contents(of: signal) {
            self = .removed([id])
        } else if let (ids, state, common, _) = Known.tasksChanged.contents(of: signal) {
            self = .changed(ids, state, common)
        } else if let (ids, _) = Known.tasksRemoved.contents(of: signal) {
            self = .removed(ids)
        } else {
            return nil
        }
    }
}

/// The news of the list; one task may iterate over them.
///
/// The sequence begins with the whole list, page by page, or with the present moment, and continues
/// with the changes. After a restart of the service, or if signals were lost because too many were
/// waiting, it asks for the changes since the last serial. If the service no longer knows these
/// changes, the sequence begins again with the whole list. It ends with the connection.
///
/// The sequence of ``ManagerClient/listSignals()`` asks for nothing: in all these cases its element
/// is ``ListNews/anew``.
public struct ListNewsSequence: AsyncSequence, Sendable {
    /// The error that iterating can throw.
    public typealias Failure = ManagerError

    let client: ManagerClient
    /// The moment at which the news begin; nil to begin with the whole list.
    ///
    /// The signals were subscribed before the service was asked for its position, so that no change
    /// is missed in between. The position is nil if the service has no serials.
    var start: (signals: SignalSequence<Proxy.Event>, position: (list: String, serial: UInt64)?)?
    /// Whether the sequence asks the service for tasks; if not, it reports ``ListNews/anew`` when
    /// the client has to ask for all of them.
    var asksForTasks = true

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// An iterator.
    public struct Iterator: AsyncIteratorProtocol {
        /// What to follow; its start is nil once used.
        private var sequence: ListNewsSequence
        private var signals: SignalSequence<Proxy.Event>.Iterator?
        private var rest: [ListNews] = []
        /// The position of the last complete answer; nil before the first one.
        private var position: (list: String, serial: UInt64)?
        private var isBehind = true
        /// When the last question was asked.
        private var asked = ContinuousClock.now
        /// Whether the next service to appear is the one that gave the position, because that
        /// question started it.
        private var isNextKnown = false
        /// The list whose pages are being read, and the query for the next page; nil between
        /// answers.
        private var reading: (list: String, query: ChangesQuery)?
        /// The ids of tasks that TasksAdded reported and no page has contained yet.
        private var announced: Set<String> = []
        /// Whether a service that ends is news and not an error: true after the first complete
        /// answer, and from the start for news that begin at a moment.
        private var hasBegun: Bool

        init(_ sequence: ListNewsSequence) {
            self.sequence = sequence
            hasBegun = sequence.start != nil
        }

        /// Returns the next news; nil at the end of the connection.
        ///
        /// - Throws: The service's error if it does not return its list.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ManagerError) -> ListNews? {
            while rest.isEmpty {
                if signals == nil {
                    try await listen()
                } else if isBehind {
                    try await catchUp()
                } else if try await !hear() {
                    return nil
                }
            }
            return rest.removeFirst()
        }

        /// Returns the next news; nil at the end of the connection.
        public mutating func next() async throws(ManagerError) -> ListNews? {
            try await next(isolation: nil)
        }

        private mutating func listen() async throws(ManagerError) {
            if let start = sequence.start {
                (signals, position) = (start.signals.makeAsyncIterator(), start.position)
            } else {
                signals = try await sequence.client.signalsAndOwners().makeAsyncIterator()
            }
            (reading, isBehind) = (nil, sequence.asksForTasks && sequence.start == nil)
            if !sequence.asksForTasks { rest = [.anew] }
            // The present owner; if no service runs, the first call starts one.
            if case .owner(nil) = try? await signals?.next() { isNextKnown = sequence.start != nil }
            sequence.start = nil
        }

        /// Reads one signal; false at the end.
        private mutating func hear() async throws(ManagerError) -> Bool {
            let event: Proxy.Event?
            do throws(BusError) {
                event = try await signals?.next()
            } catch {
                // Some signals are lost because too many were waiting; the serial recovers their
                // contents.
                signals = nil
                return true
            }
            switch event {
            case nil: return false
            case .owner(nil): rest = [.left]
            case .owner where !sequence.asksForTasks: rest = [.anew]
            case .owner:
                rest = [.came]
                // The pages of the previous service are void.
                (reading, isBehind) = (nil, !isNextKnown)
                isNextKnown = false
            case .signal(let signal):
                rest = [ListNews(signal)].compactMap(\.self)
                guard let (ids, _, _) = Contract.Signal.tasksAdded.contents(of: signal) else {
                    break
                }
                guard sequence.asksForTasks else {
                    rest = [.anew]
                    break
                }
                announced.formUnion(ids)
                isBehind = true
            }
            return true
        }

        /// Asks for the changes since the last complete answer.
        private mutating func catchUp() async throws(ManagerError) {
            do throws(ManagerError) {
                do throws(ManagerError) {
                    try await askForPage()
                } catch  where Self.ofOlderServices.contains(error.code) {
                    let tasks = try await sequence.client.allTasks()
                    end(with: [.anew, .page(tasks), .whole(0)])
                }
            } catch {
                let hasBegun = hasBegun || reading != nil
                (reading, isBehind) = (nil, false)
                switch error.code {
                // The changes are not known any more: begin again with the whole list.
                case .limitExceeded where position != nil:
                    position = nil
                    isBehind = true
                // The service has not answered in all that time: it may hang and go on, which no
                // signal would report.
                case .noReply where hasBegun && .now - asked >= sequence.client.manager.timeout:
                    rest = [.left]
                    isBehind = true
                // This service is ending or has ended; the signals will report its next owner.
                case let code where hasBegun && (code == .stopping || error.isUnreachable):
                    rest = [.left]
                default: throw error
                }
            }
        }

        /// The errors of a service of version 1, which has no serials.
        private static let ofOlderServices: [ManagerError.Code?] = [
            .unknownMethod, .unknownProperty, .unknownInterface,
        ]

        private mutating func askForPage() async throws(ManagerError) {
            asked = .now
            if reading == nil {
                let list = try await sequence.client.listID()
                if position?.list != list {
                    position = nil
                    announced = []
                    rest = [.anew]
                }
                var query = ChangesQuery()
                query.list = list
                reading = (list, query)
            }
            guard let (list, query) = reading else { return }
            asked = .now
            let page = try await sequence.client.page(of: query, since: position?.serial ?? 0)
            append(page.tasks)
            reading?.query.next = page.next
            // Only the first page is short, so that it arrives early.
            reading?.query.limit = .max
            guard page.next.isEmpty else { return }
            position = (list, page.serial)
            announced = []
            end(with: rest + [.removed(page.removed), .whole(page.serial)])
        }

        /// Ends catching up with these news.
        private mutating func end(with news: [ListNews]) {
            rest = news
            (reading, isBehind, hasBegun) = (nil, false, true)
        }

        private mutating func append(_ page: [TaskProperties]) {
            guard !announced.isEmpty else { return rest.append(.page(page)) }
            let added = page.filter { announced.contains($0.id) }
            rest += [.page(page.filter { !announced.contains($0.id) }), .added(added)]
        }
    }
}

extension ManagerClient {
    /// Returns the news of the list: all tasks first, then the changes.
    ///
    /// The first call starts the service.
    ///
    /// - Returns: The news, for one task to iterate over.
    public func listNews() -> ListNewsSequence { ListNewsSequence(client: self) }

    /// Returns the changes of the list, for clients that ask for its pages themselves
    /// (``findTasks(_:)``); does not start the service.
    ///
    /// The first element is ``ListNews/anew``: ask for all pages again. The same element follows
    /// whenever a service starts, many tasks are added at once, or signals are lost because too
    /// many were waiting.
    ///
    /// - Returns: The news, for one task to iterate over.
    public func listSignals() -> ListNewsSequence {
        ListNewsSequence(client: self, asksForTasks: false)
    }

    /// Returns the changes of the list from now on, without the list; starts the service.
    ///
    /// Reading the sequence does not start the service again after its end. The sequence misses no
    /// change of a task that the caller adds or reads after this call.
    ///
    /// - Returns: The news, for one task to iterate over. They wait until they are read.
    public func newsFromNow() async throws(ManagerError) -> ListNewsSequence {
        let signals = try await signalsAndOwners()
        let position: (list: String, serial: UInt64)?
        do {
            position = (try await listID(), try await serial())
        } catch  where error.code == .unknownProperty {
            // A service of version 1.
            position = nil
        }
        return ListNewsSequence(client: withoutStart, start: (signals, position))
    }

    /// Returns the manager's signals and owners, from the moment this method returns.
    func signalsAndOwners() async throws(ManagerError) -> SignalSequence<Proxy.Event> {
        try await asking { () throws(BusError) in try await manager.events() }
    }
}
