// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The list of tasks, kept up to date by what ``ManagerClient/listNews(properties:)`` tells.
///
/// It never goes back: what is said of a task counts only if it is not older than what is known.
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
    /// What became of one task: nil before it was known, nil once it is gone.
    public struct Change: Sendable {
        /// The task as it was known.
        public let old: TaskProperties?
        /// The task as it is known now.
        public let new: TaskProperties?
    }

    /// The tasks by their ids.
    public private(set) var tasks: [String: TaskProperties] = [:]
    /// Whether all tasks are known; false until the first list is complete.
    public private(set) var isWhole = false
    /// Whether the service is on the bus.
    public private(set) var isServed = false
    /// The serial of the last whole answer; 0 before it, and of services that give none.
    private var serial: UInt64 = 0

    /// Creates a list that knows nothing yet.
    public init() {}

    /// Takes the next news, in the order in which it came.
    ///
    /// - Parameter news: What ``ManagerClient/listNews(properties:)`` told.
    /// - Returns: What became of each task; nothing where all tasks were forgotten.
    @discardableResult
    public mutating func apply(_ news: ListNews) -> [Change] {
        switch news {
        case .anew:
            tasks = [:]
            serial = 0
            isWhole = false
            isServed = true
            return []
        // It is up to date once what has changed meanwhile is told.
        case .came: return []
        case .page(let page), .added(let page): return page.compactMap { take($0) }
        case .event(.added(let task)):
            // One commit may add and start a task, and both have its serial: an answer that is known
            // already told of both.
            if task.serial > 0, let old = tasks[task.id], task.serial <= old.serial { return [] }
            return [take(task)].compactMap(\.self)
        case .event(.changed(let id, let state, let changed)):
            return [change(id, state, changed)].compactMap(\.self)
        case .event(.removed(let id)): return [remove(id)].compactMap(\.self)
        case .changed(let ids, let state, let common):
            return ids.compactMap { change($0, state, common) }
        case .removed(let ids): return ids.compactMap { remove($0) }
        case .whole(let serial):
            self.serial = serial
            isWhole = true
            isServed = true
            return []
        case .left:
            isServed = false
            return tasks.values.filter { $0.speed > 0 }.map { old in
                var new = old
                new.speed = 0
                tasks[old.id] = new
                return Change(old: old, new: new)
            }
        }
    }

    private mutating func take(_ task: TaskProperties) -> Change? {
        let old = tasks[task.id]
        var new = task
        if let old {
            guard task.serial >= old.serial else { return nil }
            // A page is longer under way than a signal of progress.
            if task.serial == old.serial { new.takeProgress(of: old) }
        } else if task.serial > 0, task.serial <= serial {
            // The last whole answer had every task up to its serial but those that were removed:
            // what comes late must not bring one back, since its removal may be told no more.
            return nil
        }
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
        // Services before version 2 give none, and tell all in order.
        guard new.serial >= old.serial else { return nil }
        tasks[id] = new
        return Change(old: old, new: new)
    }

    private mutating func remove(_ id: String) -> Change? {
        guard let old = tasks.removeValue(forKey: id) else { return nil }
        return Change(old: old, new: nil)
    }
}

extension TaskProperties {
    fileprivate mutating func takeProgress(of other: TaskProperties) {
        downloadedBytes = other.downloadedBytes
        progress = other.progress
        speed = other.speed
        activity = other.activity
    }
}

/// What ``LiveList`` is told.
public enum ListNews: Sendable {
    /// What was known is void; pages of all tasks follow.
    case anew
    /// Tasks as they are.
    case page([TaskProperties])
    /// Tasks that were added while the news were heard, many at once.
    case added([TaskProperties])
    /// One task.
    case event(ManagerEvent)
    /// Tasks that have the same state now, and the properties that changed and are the same in all.
    case changed([String], TaskProperties.State, [String: Value])
    /// Tasks that are not in the list any more.
    case removed([String])
    /// All that was to be caught up with has been told, up to this serial; 0 from services that give
    /// none.
    case whole(UInt64)
    /// The service has left the bus; what is known stays until it is back, but nothing moves.
    case left
    /// The service has come to the bus; what has changed meanwhile follows.
    case came
}

/// The news of the list; one task may iterate over it.
///
/// It begins with the whole list, page by page, or with this moment, and goes on with what changes.
/// After a restart of the service, or where more signals came than were taken, it catches up by the
/// serial, and begins anew where the service does not know the changes any more. It ends with the
/// connection.
public struct ListNewsSequence: AsyncSequence, Sendable {
    /// The error that iterating can throw.
    public typealias Failure = ManagerError

    let client: ManagerClient
    let properties: [TaskProperty]
    /// Where the news begin; nil for the whole list.
    var start: Start?

    /// A moment from which on the news are told.
    struct Start: Sendable {
        /// The signals, heard before the position was asked for.
        let signals: SignalSequence<Proxy.Event>
        /// Where the list stood; nil of services that have no serials.
        let position: Position?
    }

    /// A place in the history of a list.
    struct Position: Sendable {
        let list: String
        let serial: UInt64
    }

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(client: client, properties: properties, start: start)
    }

    /// An iterator.
    public struct Iterator: AsyncIteratorProtocol {
        let client: ManagerClient
        let properties: [TaskProperty]
        /// The moment to begin with; nil once it was used.
        private var start: Start?
        private var signals: SignalSequence<Proxy.Event>.Iterator?
        private var rest: [ListNews] = []
        /// Where the last whole answer stands; nil before the first one.
        private var position: Position?
        private var isBehind = true
        /// Whether the service that comes next gave the position: the question had started it.
        private var isNextKnown = false
        /// The list whose pages are being read, and where the next one begins.
        private var reading: (list: String, query: ChangesQuery)?
        /// The tasks that signals about many told of, and that are on no page yet.
        private var announced: Set<String> = []
        /// Whether the end of a service is news, and no failure.
        private var hasBegun: Bool

        init(client: ManagerClient, properties: [TaskProperty], start: Start?) {
            self.client = client
            self.properties = properties
            self.start = start
            hasBegun = start != nil
        }

        /// The next news; nil at the end of the connection.
        ///
        /// - Throws: What the service answers to the question for its list.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ManagerError) -> ListNews? {
            while rest.isEmpty {
                if signals == nil { try await listen() }
                if isBehind {
                    try await catchUp()
                } else if try await !hear() {
                    return nil
                }
            }
            return rest.removeFirst()
        }

        /// The next news; nil at the end of the connection.
        public mutating func next() async throws(ManagerError) -> ListNews? {
            try await next(isolation: nil)
        }

        private mutating func listen() async throws(ManagerError) {
            if let start {
                (signals, position) = (start.signals.makeAsyncIterator(), start.position)
            } else {
                signals = try await client.signalsAndOwners().makeAsyncIterator()
            }
            (reading, isBehind) = (nil, start == nil)
            // The owner of that moment; a service that does not run is started by the first call.
            if case .owner(nil) = try? await signals?.next() { isNextKnown = start != nil }
            start = nil
        }

        /// Takes one signal; false at the end.
        private mutating func hear() async throws(ManagerError) -> Bool {
            let event: Proxy.Event?
            do throws(BusError) {
                event = try await signals?.next()
            } catch {
                // Too many came: some are lost, and the serial tells what they said.
                signals = nil
                return true
            }
            switch event {
            case nil: return false
            case .owner(nil): rest = [.left]
            case .owner:
                rest = [.came]
                // Pages of the one before it mean nothing any more.
                (reading, isBehind) = (nil, !isNextKnown)
                isNextKnown = false
            case .signal(let signal):
                switch ManagerNews(signal) {
                case .one(let event): rest = [.event(event)]
                case .changed(let ids, let state, let common): rest = [.changed(ids, state, common)]
                case .removed(let ids): rest = [.removed(ids)]
                // Their names and URLs are not in the signal.
                case .added(let ids, _):
                    announced.formUnion(ids)
                    isBehind = true
                case nil: break
                }
            }
            return true
        }

        /// Asks for what has changed since the last whole answer.
        private mutating func catchUp() async throws(ManagerError) {
            do throws(ManagerError) {
                do throws(ManagerError) {
                    try await askForPage()
                } catch  where Self.isOlder(error.code) {
                    let tasks = try await client.allTasks()
                    end(with: [.anew, .page(tasks), .whole(0)])
                }
            } catch {
                let hasBegun = hasBegun || reading != nil
                (reading, isBehind) = (nil, false)
                switch error.code {
                // Nobody knows what has changed: begin anew.
                case .limitExceeded where position != nil:
                    position = nil
                    isBehind = true
                // It ends: its next owner is told of.
                case .stopping where hasBegun, .noReply where hasBegun:
                    rest = [.left]
                default: throw error
                }
            }
        }

        /// Whether a service answers so that has no serials: one of version 1.
        private static func isOlder(_ code: ManagerError.Code?) -> Bool {
            switch code {
            case .unknownMethod, .unknownProperty, .unknownInterface: true
            default: false
            }
        }

        private mutating func askForPage() async throws(ManagerError) {
            if reading == nil {
                let list = try await client.listID()
                if position?.list != list {
                    position = nil
                    announced = []
                    rest = [.anew]
                }
                var query = ChangesQuery()
                query.list = list
                query.properties = properties
                reading = (list, query)
            }
            guard let (list, query) = reading else { return }
            let page = try await client.page(of: query, since: position?.serial ?? 0)
            append(page.tasks)
            reading?.query.next = page.next
            // The first page is short, so that it is there at once.
            reading?.query.limit = .max
            guard page.next.isEmpty else { return }
            position = Position(list: list, serial: page.serial)
            announced = []
            end(with: rest + [.removed(page.removed), .whole(page.serial)])
        }

        /// All that there was to catch up with is told by these news.
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
    /// Tells the whole list and then what changes in it; the first call starts the service.
    ///
    /// - Parameter properties: The properties that are needed of each task, beside Id and Serial; an
    ///   empty array means all. Signals may tell others, too.
    /// - Returns: The news, for one task to iterate over.
    public func listNews(properties: [TaskProperty] = []) -> ListNewsSequence {
        ListNewsSequence(client: self, properties: properties)
    }

    /// Tells what changes in the list from now on, without the list; asking starts the service.
    ///
    /// What the caller adds or reads after this call, it follows without missing a change.
    ///
    /// - Returns: The news, for one task to iterate over. They are kept until they are taken.
    public func newsFromNow() async throws(ManagerError) -> ListNewsSequence {
        let signals = try await signalsAndOwners()
        let position: ListNewsSequence.Position?
        do {
            position = ListNewsSequence.Position(
                list: try await listID(),
                serial: try await serial()
            )
        } catch  where error.code == .unknownProperty {
            // A service of version 1.
            position = nil
        }
        return ListNewsSequence(
            client: self,
            properties: [],
            start: ListNewsSequence.Start(signals: signals, position: position)
        )
    }

    /// Returns the manager's signals and owners, beginning when this method returns.
    func signalsAndOwners() async throws(ManagerError) -> SignalSequence<Proxy.Event> {
        try await asking { () throws(BusError) in try await manager.events() }
    }
}
