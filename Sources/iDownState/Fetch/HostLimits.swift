// SPDX-License-Identifier: Apache-2.0

/// How many connections each host is given, over all tasks, and what was learned about the host.
///
/// A host is a scheme, a host and a port. Times are readings of any clock that only goes forward.
package struct HostLimits: Sendable {
    /// No host is ever given more.
    package static let most = 16
    /// What a host was found to allow, and to be of use, is believed for a day.
    package static let memory: Duration = .seconds(86_400)
    /// A wish to be left alone is honoured up to an hour.
    package static let longestQuiet: Duration = .seconds(3600)
    /// For so long a host may not have noticed that a connection is gone.
    package static let lag: Duration = .seconds(2)
    /// How many hosts are remembered.
    static let hostLimit = 1000

    private struct Host: Sendable {
        var open = 0
        /// Of those that are open, the ones that the host has refused.
        var turnedAway = 0
        var limit: Int?
        var useful: UsefulConnections?
        /// It gave one unchanged file several ETags.
        var hasSeveralTags = false
        var learned: Duration = .zero
        var quietUntil: Duration?
        /// When connections were closed that had brought something, as far as it matters.
        var closings: [Duration] = []
    }

    private var hosts: [String: Host] = [:]

    package init() {}

    /// How many connections are open to a host.
    package func open(_ host: String) -> Int { hosts[host]?.open ?? 0 }

    /// How many more connections may join those that are open.
    package func room(_ host: String, at now: Duration) -> Int {
        guard let known = hosts[host] else { return Self.most }
        if let quietUntil = known.quietUntil, now < quietUntil { return 0 }
        let limit = isFresh(known, at: now) ? known.limit ?? Self.most : Self.most
        return max(0, limit - known.open)
    }

    /// Whether there are as many as the host was seen to allow: it may refuse one more.
    package func isAtLimit(_ host: String, at now: Duration) -> Bool {
        guard let known = hosts[host], isFresh(known, at: now), let limit = known.limit else {
            return false
        }
        return known.open >= limit
    }

    /// Whether there are as many as any host is ever given: even a first connection has to wait.
    package func isFull(_ host: String) -> Bool { open(host) >= Self.most }

    /// The number of connections to one file that was found to be of use; nil if none was.
    package func useful(_ host: String, at now: Duration) -> UsefulConnections? {
        guard let known = hosts[host], isFresh(known, at: now) else { return nil }
        return known.useful
    }

    /// Whether the host is known to give one unchanged file several ETags.
    package func hasSeveralTags(_ host: String, at now: Duration) -> Bool {
        guard let known = hosts[host], isFresh(known, at: now) else { return false }
        return known.hasSeveralTags
    }

    /// A connection was opened.
    package mutating func opened(_ host: String, at now: Duration) {
        if hosts[host] == nil { makeRoom() }
        hosts[host, default: Host()].open += 1
        forgetWhatIsStale(host, at: now)
    }

    /// A connection was closed, for whatever reason; `wasServed` where the host had given it
    /// something, `wasRefused` where ``refused(_:wasClosed:retryAfter:at:)`` was called for it
    /// while it was open.
    package mutating func closed(
        _ host: String,
        wasServed: Bool = false,
        wasRefused: Bool = false,
        at now: Duration
    ) {
        guard var known = hosts[host] else { return }
        known.open = max(0, known.open - 1)
        if wasRefused { known.turnedAway = max(0, known.turnedAway - 1) }
        known.closings.removeAll { now - $0 > Self.lag }
        if wasServed, known.closings.count < Self.most { known.closings.append(now) }
        let knowsNothing =
            known.limit == nil && known.useful == nil && known.quietUntil == nil
            && !known.hasSeveralTags
        hosts[host] = known.open == 0 && knowsNothing ? nil : known
    }

    /// The host refused a connection that was to join others.
    ///
    /// Those that were closed a moment ago may still have counted for the host; those that it has
    /// refused did not, whether they are closed yet or not.
    ///
    /// - Parameters:
    ///   - host: who refuses.
    ///   - wasClosed: whether the connection counts as closed already.
    ///   - retryAfter: for how long the host wants to be left alone; nil where it does not say.
    ///   - now: the present time.
    package mutating func refused(
        _ host: String,
        wasClosed: Bool = false,
        retryAfter: Duration?,
        at now: Duration
    ) {
        forgetWhatIsStale(host, at: now)
        var known = hosts[host] ?? Host()
        if !wasClosed { known.turnedAway = min(known.open, known.turnedAway + 1) }
        let lately = known.closings.count { now - $0 <= Self.lag }
        let served = known.open - known.turnedAway + lately
        known.limit = max(1, min(known.limit ?? Self.most, served))
        known.learned = now
        if let retryAfter, retryAfter > .zero {
            let until = now + min(retryAfter, Self.longestQuiet)
            known.quietUntil = max(known.quietUntil ?? until, until)
        }
        hosts[host] = known
    }

    /// A trial has found so many connections to be of use.
    package mutating func learned(
        _ host: String,
        useful: UsefulConnections,
        at now: Duration
    ) {
        forgetWhatIsStale(host, at: now)
        hosts[host, default: Host()].useful = useful
        hosts[host]?.learned = now
    }

    /// The host was seen to give one unchanged file several ETags.
    package mutating func givesSeveralTags(_ host: String, at now: Duration) {
        if hosts[host] == nil { makeRoom() }
        forgetWhatIsStale(host, at: now)
        hosts[host, default: Host()].hasSeveralTags = true
        hosts[host]?.learned = now
    }

    // MARK: From one run of the service to the next

    /// What was learned and is still believed, the latest first.
    package func knowledge(at now: Duration) -> [HostKnowledge] {
        let known = hosts.filter { isFresh($0.value, at: now) }.map { host, known in
            HostKnowledge(
                host: host,
                limit: known.limit,
                useful: known.useful,
                hasSeveralTags: known.hasSeveralTags,
                age: now - known.learned
            )
        }
        return known.filter { $0.limit != nil || $0.useful != nil || $0.hasSeveralTags }
            .sorted { $0.age < $1.age }
    }

    /// Takes up what an earlier run has learned; what cannot be so is left out.
    package mutating func restore(_ knowledge: [HostKnowledge], at now: Duration) {
        for known in knowledge.prefix(Self.hostLimit) {
            guard known.age >= .zero, known.age < Self.memory, hosts[known.host] == nil else {
                continue
            }
            let range = 1...Self.most
            let numbers = [known.limit, known.useful?.count].compactMap(\.self)
            guard !numbers.isEmpty || known.hasSeveralTags, numbers.allSatisfy(range.contains)
            else { continue }
            var host = Host()
            (host.limit, host.useful) = (known.limit, known.useful)
            host.hasSeveralTags = known.hasSeveralTags
            host.learned = now - known.age
            hosts[known.host] = host
        }
    }

    private func isFresh(_ host: Host, at now: Duration) -> Bool {
        now - host.learned < Self.memory
    }

    private mutating func forgetWhatIsStale(_ host: String, at now: Duration) {
        guard let known = hosts[host], !isFresh(known, at: now) else { return }
        hosts[host]?.limit = nil
        hosts[host]?.useful = nil
        hosts[host]?.hasSeveralTags = false
    }

    /// Forgets the host that was last learned about the longest ago and has nothing open.
    private mutating func makeRoom() {
        guard hosts.count >= Self.hostLimit else { return }
        let idle = hosts.filter { $0.value.open == 0 }
        guard let oldest = idle.min(by: { $0.value.learned < $1.value.learned }) else { return }
        hosts[oldest.key] = nil
    }
}
