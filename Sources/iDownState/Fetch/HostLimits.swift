// SPDX-License-Identifier: Apache-2.0

/// How many connections each host gets from all tasks, and what was learned about the hosts.
///
/// A host here is a scheme, a host and a port. Times are readings of a clock that only goes
/// forward.
package struct HostLimits: Sendable {
    /// The most connections that any host gets.
    package static let most = 16
    /// How long knowledge about a host is believed: 24 hours.
    package static let memory: Duration = .seconds(86_400)
    /// The longest pause at a host's request: 1 hour.
    package static let longestQuiet: Duration = .seconds(3600)
    /// How long a host may take to notice that a connection is closed.
    package static let lag: Duration = .seconds(2)
    /// How many hosts are remembered.
    static let hostLimit = 1000

    private struct Host: Sendable {
        var open = 0
        /// How many of the open connections take no places, because their disk does not answer.
        ///
        /// To the host they are open like any other.
        var uncounted = 0
        /// How many of the open connections the host has refused.
        var turnedAway = 0
        /// What was learned; its age is that when the service learned it.
        var knowledge: HostKnowledge
        var learned: Duration = .zero
        /// Until when no connection joins others here; HostRests has the rests of every request.
        var quietUntil: Duration?
        /// When connections that had brought bytes were closed; each is kept for
        /// ``LimitEvidence/patience``.
        var closings: [Duration] = []
    }

    private var hosts: [String: Host] = [:]

    package init() {}

    /// Returns how many connections to a host are open.
    package func open(_ host: String) -> Int { hosts[host]?.open ?? 0 }

    /// Returns how many more connections may join the open ones.
    package func room(_ host: String, at now: Duration) -> Int {
        guard let known = hosts[host] else { return Self.most }
        if let quietUntil = known.quietUntil, now < quietUntil { return 0 }
        let places = Self.most - (known.open - known.uncounted)
        guard let limit = fresh(host, at: now)?.limit else { return max(0, places) }
        return max(0, min(places, limit - known.open))
    }

    /// What may be the reason why a host refuses one more connection.
    package enum Load: Sendable {
        /// No connection to it is open, nor was lately.
        case none
        /// Connections to it are open, or the host may still count closed ones, and it is not known
        /// how many it allows.
        case some
        /// As many are open as it was seen to allow.
        case full
    }

    /// Returns how far the connections that are open use up what the host allows.
    package func load(_ host: String, at now: Duration) -> Load {
        let open = open(host)
        if let limit = fresh(host, at: now)?.limit, open >= limit { return .full }
        let mayCount = hosts[host]?.closings.contains { now - $0 < LimitEvidence.patience } == true
        return open > 0 || mayCount ? .some : .none
    }

    /// Whether ``most`` connections take places at the host: even a lead connection has to wait.
    package func isFull(_ host: String) -> Bool {
        hosts[host].map { $0.open - $0.uncounted >= Self.most } ?? false
    }

    /// Returns how many connections to one file were useful; nil where that was not found out.
    package func useful(_ host: String, at now: Duration) -> UsefulConnections? {
        fresh(host, at: now)?.useful
    }

    /// Whether the host is known to give one unchanged file several ETags.
    package func hasSeveralTags(_ host: String, at now: Duration) -> Bool {
        fresh(host, at: now)?.hasSeveralTags == true
    }

    /// Counts a new connection; `isUncounted` if it takes no place.
    package mutating func opened(_ host: String, isUncounted: Bool = false, at now: Duration) {
        change(host, at: now) { known in
            known.open += 1
            if isUncounted { known.uncounted += 1 }
        }
    }

    /// Lets so many of the open connections take no places any more, or take them again where the
    /// number is negative.
    package mutating func uncount(_ host: String, _ number: Int) {
        guard var known = hosts[host] else { return }
        known.uncounted = min(known.open, max(0, known.uncounted + number))
        hosts[host] = known
    }

    /// Counts a connection as closed.
    ///
    /// `wasServed` says that the host had sent something over it, `wasRefused` that
    /// ``refused(_:wasClosed:retryAfter:at:)`` was called for it while it was open, `wasUncounted`
    /// that it took no place.
    package mutating func closed(
        _ host: String,
        wasServed: Bool = false,
        wasRefused: Bool = false,
        wasUncounted: Bool = false,
        at now: Duration
    ) {
        guard var known = hosts[host] else { return }
        known.open = max(0, known.open - 1)
        if wasUncounted { known.uncounted = max(0, known.uncounted - 1) }
        if wasRefused { known.turnedAway = max(0, known.turnedAway - 1) }
        known.closings.removeAll { now - $0 > LimitEvidence.patience }
        if wasServed { known.closings = (known.closings + [now]).suffix(Self.most) }
        let knowsNothing =
            known.knowledge.isEmpty && known.quietUntil == nil && known.closings.isEmpty
        hosts[host] = known.open == 0 && knowsNothing ? nil : known
    }

    /// Lowers the host's limit, because it refused a connection that was to join others.
    ///
    /// The host may still have counted connections that were closed within ``lag``. It did not
    /// count those that it has refused, whether they are closed yet or not.
    ///
    /// - Parameters:
    ///   - host: the host that refuses.
    ///   - wasClosed: whether the connection is already counted as closed.
    ///   - retryAfter: how long the host asks to be left alone; nil where it does not say.
    ///   - now: the present time.
    package mutating func refused(
        _ host: String,
        wasClosed: Bool = false,
        retryAfter: Duration?,
        at now: Duration
    ) {
        change(host, at: now) { known in
            if !wasClosed { known.turnedAway = min(known.open, known.turnedAway + 1) }
            let lately = known.closings.count { now - $0 <= Self.lag }
            let served = known.open - known.turnedAway + lately
            known.knowledge.limit = max(1, min(known.knowledge.limit ?? Self.most, served))
            known.learned = now
            guard let retryAfter, retryAfter > .zero else { return }
            let until = now + min(retryAfter, Self.longestQuiet)
            known.quietUntil = max(known.quietUntil ?? until, until)
        }
    }

    /// Records how many connections ``RampUp`` found useful.
    package mutating func learned(
        _ host: String,
        useful: UsefulConnections,
        at now: Duration
    ) {
        change(host, at: now) { ($0.knowledge.useful, $0.learned) = (useful, now) }
    }

    /// Records that the host gave one unchanged file several ETags.
    package mutating func givesSeveralTags(_ host: String, at now: Duration) {
        change(host, at: now) { ($0.knowledge.hasSeveralTags, $0.learned) = (true, now) }
    }

    // MARK: From one run of the service to the next

    /// Returns what was learned and is still believed, the latest first.
    package func knowledge(at now: Duration) -> [HostKnowledge] {
        let known = hosts.values.filter { isFresh($0, at: now) }.map { host in
            var knowledge = host.knowledge
            knowledge.age = now - host.learned
            return knowledge
        }
        return known.filter { !$0.isEmpty }.sorted { $0.age < $1.age }
    }

    /// Restores what an earlier run learned, and leaves out impossible values.
    package mutating func restore(_ knowledge: [HostKnowledge], at now: Duration) {
        for known in knowledge.prefix(Self.hostLimit) {
            guard known.age >= .zero, known.age < Self.memory, hosts[known.host] == nil else {
                continue
            }
            let range = 1...Self.most
            let numbers = [known.limit, known.useful?.count].compactMap(\.self)
            guard !known.isEmpty, numbers.allSatisfy(range.contains) else { continue }
            hosts[known.host] = Host(knowledge: known, learned: now - known.age)
        }
    }

    /// Returns what is known of a host; nil where nothing is, or nothing that is still believed.
    private func fresh(_ host: String, at now: Duration) -> HostKnowledge? {
        hosts[host].flatMap { isFresh($0, at: now) ? $0.knowledge : nil }
    }

    private func isFresh(_ host: Host, at now: Duration) -> Bool {
        now - host.learned < Self.memory
    }

    /// Changes what is known of a host, without what is no longer believed.
    private mutating func change(_ host: String, at now: Duration, _ body: (inout Host) -> Void) {
        if hosts[host] == nil { makeRoom() }
        let nothing = HostKnowledge(host: host, age: .zero)
        var known = hosts[host] ?? Host(knowledge: nothing)
        if !isFresh(known, at: now) { known.knowledge = nothing }
        body(&known)
        hosts[host] = known
    }

    /// Forgets, of the hosts without open connections, the one whose knowledge is the oldest.
    private mutating func makeRoom() {
        guard hosts.count >= Self.hostLimit else { return }
        let idle = hosts.filter { $0.value.open == 0 }
        // Those first that taught nothing.
        func age(_ host: Host) -> (Int, Duration) { (host.knowledge.isEmpty ? 0 : 1, host.learned) }
        guard let oldest = idle.min(by: { age($0.value) < age($1.value) }) else { return }
        hosts[oldest.key] = nil
    }
}
