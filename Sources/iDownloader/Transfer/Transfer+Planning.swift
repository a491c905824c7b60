// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

extension Transfer {
    /// Whether the plan has to be looked at again in a while.
    var needsPlanning: Bool {
        guard let joining else { return false }
        // Alone and without hope of company there is nothing to plan.
        return !connections.isEmpty && (connections.count > 1 || !joining.isClosed)
    }

    /// Gives what is missing to as many connections as are of use.
    func plan(_ inbox: TransferInbox) {
        guard !brake.isPulled else { return }
        // What is left to do after a failure is the next attempt's.
        guard connections.contains(where: { $0.writer != nil && !$0.isCut }) else {
            return giveUpSilentOnes()
        }
        // What a cut leaves is given away at once.
        for _ in 0..<2 {
            guard let plan = currentPlan() else { return }
            let steps = plan.steps
            for step in steps { perform(step, inbox) }
            guard steps.contains(where: \.isEnd) else { return }
        }
    }

    /// Ends those that were to join and are not answered, once they are all that is left: what
    /// they were to bring is asked for on a connection that the host may serve.
    private func giveUpSilentOnes() {
        guard let joining else { return }
        let now = engine.hosts.now
        let waiting = connections.filter { !$0.isCut }
        let areSilent = waiting.allSatisfy {
            $0.judgement == nil && joining.isSilence(now - $0.startedAt)
        }
        guard areSilent, !waiting.isEmpty else { return }
        mostServed = max(1, joining.served)
        for connection in waiting { connection.cut() }
    }

    private func currentPlan() -> SegmentPlan? {
        guard var joining, let total = content.known.total else { return nil }
        defer { self.joining = joining }
        let now = engine.hosts.now
        joining.heed(choice.number, at: now)
        let places = places(of: joining)
        let pieces = connections.compactMap { $0.piece(at: now) }
        var map = content.stored
        for connection in connections {
            if let taken = connection.writer?.taken { map.insert(taken) }
        }
        let count = map.byteCount
        joining.read(stored: count, pieces, at: now)
        joining.served = max(joining.served, connections.count { $0.isServed })
        let isThrottled = isThrottled(joining.meter.perSecond)
        let reading = RampUp.Reading(
            open: pieces.count { $0.isJudged },
            pending: pieces.count { !$0.isJudged },
            bytesPerSecond: joining.meter.perSecond,
            bytesLeft: total - count,
            headTime: joining.headTime,
            isThrottled: isThrottled
        )
        var (ceiling, ownCeiling) = (ceiling, ownCeiling)
        // Whoever has several makes room for a transfer that has none.
        if places.contains(where: { engine.hosts.isAwaited($0.origin) }) {
            ceiling = max(1, min(ceiling, pieces.count - 1))
            ownCeiling = ceiling
        }
        let finding = joining.rampUp.finding
        joining.rampUp.advance(reading, ceiling: ceiling, at: now)
        // Of several sources together it says nothing of one.
        if let found = joining.rampUp.finding, found != finding, let only = places.first,
            places.count == 1
        {
            // What the host does not serve is no use, but what we do not ask for may be.
            let useful = UsefulConnections(found, mayBeMore: found >= ownCeiling)
            engine.hosts.learned(only.origin, useful: useful)
        }
        var wanted = min(joining.rampUp.wanted, ceiling)
        // Nobody has shown yet that there are ranges: one goes ahead of the others.
        if !content.known.servesRanges { wanted = min(wanted, 2) }
        return SegmentPlan(
            total: total,
            stored: map,
            pieces: pieces,
            wanted: wanted,
            ceiling: content.known.servesRanges ? ceiling : min(ceiling, 2),
            room: joining.isOpen(at: now) ? room(at: places) : 0,
            headTime: joining.headTime,
            typical: joining.typical,
            // What a limit slows down, nobody else brings sooner; it only costs what others may.
            mayRace: !isThrottled,
            // One alone stays alone, also for the moment of a change.
            mayReplace: self.ceiling > 1 && !isThrottled && joining.replacementsLeft > 0
                && joining.isOpen(at: now)
        )
    }

    /// Whether a rate limit, and not the number of connections, is what holds the transfer back.
    private func isThrottled(_ rate: Int64?) -> Bool {
        guard let share = engine.rates.share(of: job.task) else { return false }
        return Double(rate ?? 0) >= Double(share) * 0.9 || engine.rates.holdsBack(job.task)
    }

    private func perform(_ step: SegmentPlan.Step, _ inbox: TransferInbox) {
        switch step {
        case .open(let range):
            send(for: range, as: .gap, inbox)
        case .split(let number, let range):
            send(for: range, as: .split(of: number), inbox)
        case .race(let number, let range):
            if let slow = connection(number) { dropSource(of: slow) }
            send(for: range, as: .race(with: number), inbox)
        case .cut(let number):
            connection(number)?.cut()
        case .replace(let number):
            joining?.replacedOne()
            guard let slow = connection(number) else { return }
            dropSource(of: slow)
            slow.cut()
        }
    }

    /// Asks the source that is the least busy for a part.
    private func send(for range: ByteRange, as role: Connection.Role, _ inbox: TransferInbox) {
        guard let joining, let place = freestPlace(of: joining) else { return }
        let ask = fetch.ask(for: range, of: place.source)
        let hop = joining.hops[place.source] ?? firstHop(to: place.source)
        connect(Connection.Route(ask: ask, hop: hop, role: role, source: place.source), inbox)
    }
}

extension SegmentPlan.Step {
    /// Whether it ends a connection.
    fileprivate var isEnd: Bool {
        switch self {
        case .cut, .replace: true
        case .open, .split, .race: false
        }
    }
}
