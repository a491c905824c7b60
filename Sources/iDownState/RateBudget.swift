// SPDX-License-Identifier: Apache-2.0

/// Shares bytes out among connections: one limit over all tasks, and one a task.
///
/// A connection takes what it may, and waits when that was less than it had. From time to time,
/// and only while somebody waits, `distribute` shares out what has been filled meanwhile: first
/// among the tasks, then among the connections of each. Tasks get equal shares; what a task cannot
/// take, because its own limit is lower or its server slower, goes to the others.
///
/// Over any time the bytes taken are no more than the limit allows for it and for `depth`; as long
/// as somebody waits they are no less either. Times are any clock's that only goes forward.
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
        /// Bytes that it may take before it has to wait.
        var credit = 0
        /// Its place among all that ever waited; nil while it does not.
        var waitingSince: Int?
    }

    /// What is kept for somebody who comes late: so short that ten seconds are still exact
    /// within 3 %.
    static let depth: Duration = .milliseconds(100)
    /// What is kept while somebody waits: the distribution itself may come late.
    static let lateness: Duration = .seconds(1)
    /// No connection is woken up for fewer bytes.
    static let leastGrant = 256
    /// However low a limit is, there is room for a whole grant and for what comes meanwhile.
    static let leastDepth = 2 * leastGrant
    /// Connections that use up what they get wait several times within it.
    static let memory: Duration = .milliseconds(150)

    private var pool: TokenBucket
    private var tasks: [TaskID: TokenBucket] = [:]
    private var accounts: [Stream: Account] = [:]
    /// When a connection of a task last began to wait, or went on.
    private var lastWaits: [TaskID: Duration] = [:]
    private var lastPlace = 0
    private var waiting = 0

    /// - Parameters:
    ///   - limit: bytes a second over all tasks; 0 for no limit.
    ///   - time: now.
    package init(limit: Int64 = 0, at time: Duration) {
        pool = TokenBucket(limit: limit, at: time)
    }

    /// Whether anybody could have to wait.
    package var isLimited: Bool { pool.limit > 0 || tasks.values.contains { $0.limit > 0 } }

    package var hasWaiters: Bool { waiting > 0 }

    /// The lowest limit that holds for a task, in bytes a second; nil for none.
    package func limit(for task: TaskID) -> Int64? {
        [pool.limit, tasks[task]?.limit ?? 0].filter { $0 > 0 }.min()
    }

    /// What a task gets, in bytes a second, while all others take theirs too; nil for no limit.
    package func share(of task: TaskID) -> Int64? {
        let equal = pool.limit > 0 ? max(1, pool.limit / Int64(max(1, tasks.count))) : 0
        return [equal, tasks[task]?.limit ?? 0].filter { $0 > 0 }.min()
    }
}

// MARK: Whom it holds back

extension RateBudget {
    /// Whether a task would have brought more than it may, now or a moment ago.
    package func holdsBack(_ task: TaskID, at time: Duration) -> Bool {
        if let last = lastWaits[task], time - last < Self.memory { return true }
        return accounts.contains { $0.key.task == task && $0.value.waitingSince != nil }
    }
}

// MARK: Limits

extension RateBudget {
    /// Another limit over all tasks; 0 for none.
    package mutating func setLimit(_ limit: Int64, at time: Duration) {
        fillAll(at: time)
        takeBackCredits()
        pool.setLimit(limit)
        spill()
    }

    /// Another limit for one task; a task that is not here has none.
    package mutating func setLimit(of task: TaskID, to limit: Int64, at time: Duration) {
        fillAll(at: time)
        takeBackCredits()
        tasks[task]?.setLimit(limit)
        spill()
    }

    /// A task starts; its connections follow by themselves.
    package mutating func join(_ task: TaskID, limit: Int64, at time: Duration) {
        tasks[task] = TokenBucket(limit: limit, at: time)
    }

    /// A task has ended, and all of its connections with it.
    package mutating func leave(_ task: TaskID) {
        for stream in accounts.keys where stream.task == task { leave(stream) }
        tasks[task] = nil
        lastWaits[task] = nil
    }

    /// A connection has ended.
    package mutating func leave(_ stream: Stream) {
        guard let account = accounts.removeValue(forKey: stream) else { return }
        if account.waitingSince != nil { waiting -= 1 }
        giveBack(account.credit, stream.task)
    }
}

// MARK: Taking

extension RateBudget {
    /// Takes as many of `count` bytes as may go now.
    ///
    /// - Returns: 0 to `count`; less than `count` means that the connection waits from now on,
    ///   until `distribute` names it.
    package mutating func take(_ count: Int, for stream: Stream, at time: Duration) -> Int {
        guard let task = tasks[stream.task], pool.limit > 0 || task.limit > 0 else { return count }
        fill(stream.task, at: time)
        var account = accounts[stream] ?? Account()
        defer { accounts[stream] = account }
        let missing = count - account.credit
        guard missing > 0 else {
            account.credit -= count
            return count
        }
        // Nobody is overtaken who waits already.
        if waiting == 0, min(pool.room, tasks[stream.task]?.room ?? 0) >= Double(missing) {
            charge(missing, stream.task)
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

    /// Gives bytes back that were taken and could not be used.
    package mutating func giveBack(_ count: Int, for stream: Stream) {
        giveBack(count, stream.task)
    }

    private mutating func charge(_ count: Int, _ task: TaskID) {
        pool.take(count)
        tasks[task]?.take(count)
    }

    private mutating func giveBack(_ count: Int, _ task: TaskID) {
        pool.giveBack(count)
        tasks[task]?.giveBack(count)
    }

    private mutating func fill(_ task: TaskID, at time: Duration) {
        let depth = waiting > 0 ? Self.lateness : Self.depth
        pool.fill(at: time, holding: depth, atLeast: Self.leastDepth)
        tasks[task]?.fill(at: time, holding: depth, atLeast: Self.leastDepth)
    }

    private mutating func fillAll(at time: Duration) {
        let depth = waiting > 0 ? Self.lateness : Self.depth
        pool.fill(at: time, holding: depth, atLeast: Self.leastDepth)
        for task in tasks.keys {
            tasks[task]?.fill(at: time, holding: depth, atLeast: Self.leastDepth)
        }
    }

    /// What nobody wanted does not pile up.
    private mutating func spill() {
        pool.spill(beyond: Self.depth, atLeast: Self.leastDepth)
        for id in tasks.keys { tasks[id]?.spill(beyond: Self.depth, atLeast: Self.leastDepth) }
    }

    private mutating func takeBackCredits() {
        for (stream, account) in accounts where account.credit > 0 {
            accounts[stream]?.credit = 0
            giveBack(account.credit, stream.task)
        }
    }
}

// MARK: Sharing out

extension RateBudget {
    /// Shares out what has been filled since the last time.
    ///
    /// - Returns: the connections that wait no longer, longest waiting first.
    package mutating func distribute(at time: Duration) -> [Stream] {
        fillAll(at: time)
        // Who did not need all of it leaves it to the others.
        takeBackCredits()
        var granted: [Stream] = []
        let groups = waitingGroups()
        for (index, group) in groups.enumerated() {
            let share = min(pool.room / Double(groups.count - index), group.room)
            let chosen = grant(share, group.streams)
            for stream in chosen { lastWaits[stream.task] = time }
            granted += chosen
        }
        spill()
        return granted
    }

    /// A task and its connections that wait, longest first.
    private struct Group {
        var streams: [Stream]
        let room: Double
        var place: Int
    }

    /// The tasks among which the pool is shared: those that can take the least come first, so
    /// that what they leave is there for the others.
    private func waitingGroups() -> [Group] {
        var groups: [TaskID: Group] = [:]
        let waiters = accounts.compactMap { stream, account in
            account.waitingSince.map { (stream: stream, place: $0) }
        }
        for (stream, place) in waiters.sorted(by: { $0.place < $1.place }) {
            let room = tasks[stream.task]?.room ?? .infinity
            groups[stream.task, default: Group(streams: [], room: room, place: place)]
                .streams.append(stream)
        }
        let least = Double(Self.leastGrant)
        let longestFirst = groups.values.filter { $0.room >= least }.sorted { $0.place < $1.place }
        return longestFirst.prefix(Self.count(pool.room / least))
            .sorted { ($0.room, $0.place) < ($1.room, $1.place) }
    }

    /// Gives a task's share to its connections in equal parts.
    private mutating func grant(_ share: Double, _ streams: [Stream]) -> [Stream] {
        let whole = Self.count(share)
        // Without a limit there is nothing to count: they just go on.
        let isLimited = share < .infinity
        let chosen = isLimited ? Array(streams.prefix(whole / Self.leastGrant)) : streams
        let part = isLimited && !chosen.isEmpty ? whole / chosen.count : 0
        for stream in chosen {
            charge(part, stream.task)
            accounts[stream] = Account(credit: part, waitingSince: nil)
        }
        waiting -= chosen.count
        return chosen
    }

    /// Whole bytes, held within what Int takes: limits come from outside.
    private static func count(_ bytes: Double) -> Int { Int(max(0, min(bytes, 1e15))) }
}
