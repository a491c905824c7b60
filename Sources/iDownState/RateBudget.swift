// SPDX-License-Identifier: Apache-2.0

/// Shares bytes out among connections, under one limit for all tasks and one for each task.
///
/// A connection takes the bytes that it may, and waits if those were fewer than it had. While any
/// connection waits, `distribute` regularly shares out what has become available: first among the
/// tasks, then among the connections of each task. Tasks get equal shares. What a task cannot take,
/// because its own limit is lower or its server slower, goes to the others.
///
/// In any period the bytes taken are no more than the limit allows for the period and for `depth`.
/// While a connection waits they are no fewer either. Times are readings of a clock that only goes
/// forward.
package struct RateBudget: Sendable {
    /// A connection of a task.
    package struct Stream: Hashable, Sendable {
        package let task: TaskID
        package let number: Int

        package init(task: TaskID, number: Int) {
            self.task = task
            self.number = number
        }
    }

    private struct Account {
        /// The bytes that the connection may take before it has to wait.
        var credit = 0
        /// The connection's place in the order of all waits; nil while it does not wait.
        var waitingSince: Int?
    }

    /// How much unused credit is kept while no connection waits: so little that the bytes over ten
    /// seconds are still exact within 3 %.
    static let depth: Duration = .milliseconds(100)
    /// How much credit is kept while a connection waits, because the distribution may be late.
    static let lateness: Duration = .seconds(1)
    /// The fewest bytes for which a waiting connection is woken up.
    static let leastGrant = 256
    /// The least credit that is kept at a low limit: enough for one grant and for what comes
    /// meanwhile.
    static let leastDepth = 2 * leastGrant
    /// How long a task counts as held back after a wait; a connection that uses up what it gets
    /// waits several times within it.
    static let memory: Duration = .milliseconds(150)

    private var pool: TokenBucket
    private var tasks: [TaskID: TokenBucket] = [:]
    private var accounts: [Stream: Account] = [:]
    /// When a connection of each task last began to wait, or stopped waiting.
    private var lastWaits: [TaskID: Duration] = [:]
    /// Each task's place in the order of all waits and grants when it last got bytes.
    private var lastGrants: [TaskID: Int] = [:]
    private var lastPlace = 0
    private var waiting = 0

    /// - Parameters:
    ///   - limit: bytes a second for all tasks together; 0 for no limit.
    ///   - time: the present time.
    package init(limit: Int64 = 0, at time: Duration) { pool = TokenBucket(limit: limit, at: time) }

    /// Whether there is any limit, so that connections may have to wait.
    package var isLimited: Bool { pool.limit > 0 || tasks.values.contains { $0.limit > 0 } }

    package var hasWaiters: Bool { waiting > 0 }

    /// Returns the lowest limit that applies to a task, in bytes a second; nil without a limit.
    package func limit(for task: TaskID) -> Int64? {
        [pool.limit, tasks[task]?.limit ?? 0].filter { $0 > 0 }.min()
    }

    /// Returns the bytes a second that a task gets if all others use their shares; nil without a
    /// limit.
    package func share(of task: TaskID) -> Int64? {
        let equal = pool.limit > 0 ? max(1, pool.limit / Int64(max(1, tasks.count))) : 0
        return [equal, tasks[task]?.limit ?? 0].filter { $0 > 0 }.min()
    }
}

// MARK: Tasks held back

extension RateBudget {
    /// Whether a task could bring more bytes than it may, now or a moment ago.
    package func holdsBack(_ task: TaskID, at time: Duration) -> Bool {
        if let last = lastWaits[task], time - last < Self.memory { return true }
        return accounts.contains { $0.key.task == task && $0.value.waitingSince != nil }
    }
}

// MARK: Limits

extension RateBudget {
    /// Changes the limit for all tasks together; 0 for no limit.
    package mutating func setLimit(_ limit: Int64, at time: Duration) {
        fill(tasks.keys, at: time)
        takeBackCredits()
        pool.setLimit(limit)
        spill()
    }

    /// Changes the limit of one task; a task that has not joined is ignored.
    package mutating func setLimit(of task: TaskID, to limit: Int64, at time: Duration) {
        fill(tasks.keys, at: time)
        takeBackCredits()
        tasks[task]?.setLimit(limit)
        spill()
    }

    /// Adds a task; its connections are added when they take bytes.
    package mutating func join(_ task: TaskID, limit: Int64, at time: Duration) {
        tasks[task] = TokenBucket(limit: limit, at: time)
    }

    /// Removes a task and all of its connections.
    package mutating func leave(_ task: TaskID) {
        for stream in accounts.keys where stream.task == task { leave(stream) }
        tasks[task] = nil
        lastWaits[task] = nil
        lastGrants[task] = nil
    }

    /// Removes a connection.
    package mutating func leave(_ stream: Stream) {
        guard let account = accounts.removeValue(forKey: stream) else { return }
        if account.waitingSince != nil { waiting -= 1 }
        giveBack(account.credit, for: stream)
    }
}

// MARK: Taking

extension RateBudget {
    /// Takes as many of `count` bytes as the connection may take now.
    ///
    /// - Returns: 0 to `count`; fewer than `count` means that the connection waits from now on,
    ///   until `distribute` returns it.
    package mutating func take(_ count: Int, for stream: Stream, at time: Duration) -> Int {
        guard let task = tasks[stream.task], pool.limit > 0 || task.limit > 0 else { return count }
        fill(CollectionOfOne(stream.task), at: time)
        var account = accounts[stream] ?? Account()
        defer { accounts[stream] = account }
        let missing = count - account.credit
        guard missing > 0 else {
            account.credit -= count
            return count
        }
        // Connections that already wait come first.
        if waiting == 0, min(pool.room, tasks[stream.task]?.room ?? 0) >= Double(missing) {
            charge(missing, for: stream)
            account.credit = 0
            return count
        }
        defer { account.credit = 0 }
        if account.waitingSince == nil {
            lastPlace += 1
            account.waitingSince = lastPlace
            waiting += 1
            lastWaits[stream.task] = time
        }
        return account.credit
    }

    /// Returns bytes that a connection has taken and could not use.
    package mutating func giveBack(_ count: Int, for stream: Stream) { charge(-count, for: stream) }

    private mutating func charge(_ count: Int, for stream: Stream) {
        pool.take(count)
        tasks[stream.task]?.take(count)
    }

    /// Adds the bytes that the limits allow by now, for all tasks together and for these.
    private mutating func fill(_ ids: some Collection<TaskID>, at time: Duration) {
        let depth = waiting > 0 ? Self.lateness : Self.depth
        pool.fill(at: time, holding: depth, atLeast: Self.leastDepth)
        for id in ids { tasks[id]?.fill(at: time, holding: depth, atLeast: Self.leastDepth) }
    }

    /// Drops credit beyond ``depth``, so that unused credit does not pile up.
    private mutating func spill() {
        pool.spill(beyond: Self.depth, atLeast: Self.leastDepth)
        for id in tasks.keys { tasks[id]?.spill(beyond: Self.depth, atLeast: Self.leastDepth) }
    }

    private mutating func takeBackCredits() {
        for (stream, account) in accounts where account.credit > 0 {
            accounts[stream]?.credit = 0
            giveBack(account.credit, for: stream)
        }
    }
}

// MARK: Sharing out

extension RateBudget {
    /// Shares out what has become available since the last distribution.
    ///
    /// - Returns: the connections that wait no longer, task by task, those of a task that waited
    ///   longest first.
    package mutating func distribute(at time: Duration) -> [Stream] {
        fill(tasks.keys, at: time)
        // Credit that a connection has not used is shared out again.
        takeBackCredits()
        var granted: [Stream] = []
        let groups = waitingGroups()
        for (index, group) in groups.enumerated() {
            let share = min(pool.room / Double(groups.count - index), group.room)
            let chosen = grant(share, group.streams)
            granted += chosen
            guard let task = chosen.first?.task else { continue }
            lastWaits[task] = time
            lastPlace += 1
            lastGrants[task] = lastPlace
        }
        spill()
        return granted
    }

    /// A task and its waiting connections, those that wait longest first.
    private struct Group {
        var streams: [Stream]
        let room: Double
        /// When the task last got bytes, and when its first connection began to wait.
        let place: (Int, Int)
    }

    /// Returns the tasks among which the pool is shared.
    ///
    /// Those that can take the least come first, so that what they leave is available for the
    /// others.
    private func waitingGroups() -> [Group] {
        var groups: [TaskID: Group] = [:]
        let waiters = accounts.compactMap { stream, account in
            account.waitingSince.map { (stream: stream, place: $0) }
        }
        for (stream, place) in waiters.sorted(by: { $0.place < $1.place }) {
            let room = tasks[stream.task]?.room ?? .infinity
            let last = lastGrants[stream.task] ?? 0
            groups[stream.task, default: Group(streams: [], room: room, place: (last, place))]
                .streams.append(stream)
        }
        let least = Double(Self.leastGrant)
        // At a low limit only some get bytes each time. Were they those whose connections wait
        // longest, a task with more connections would come more often.
        let longestFirst = groups.values.filter { $0.room >= least }.sorted { $0.place < $1.place }
        return longestFirst.prefix(Self.count(pool.room / least))
            .sorted { ($0.room, $0.place.0, $0.place.1) < ($1.room, $1.place.0, $1.place.1) }
    }

    /// Gives a task's share to its connections in equal parts, and returns those that got one.
    private mutating func grant(_ share: Double, _ streams: [Stream]) -> [Stream] {
        let whole = Self.count(share)
        // Without a limit nothing is counted, and all connections continue.
        let isLimited = share < .infinity
        let chosen = isLimited ? Array(streams.prefix(whole / Self.leastGrant)) : streams
        let part = isLimited && !chosen.isEmpty ? whole / chosen.count : 0
        for stream in chosen {
            charge(part, for: stream)
            accounts[stream] = Account(credit: part, waitingSince: nil)
        }
        waiting -= chosen.count
        return chosen
    }

    /// Returns whole bytes, clamped to what Int can hold: limits come from outside.
    private static func count(_ bytes: Double) -> Int { Int(max(0, min(bytes, 1e15))) }
}
