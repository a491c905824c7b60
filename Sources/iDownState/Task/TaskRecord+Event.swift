// SPDX-License-Identifier: Apache-2.0

extension TaskRecord {
    /// Records an event.
    ///
    /// An event that comes too late changes nothing and has no effects.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - now: the calendar's time, for the record.
    ///   - jitter: 0 up to 1, for the back-off.
    ///   - took: how long a failed try took, by a clock that is never set.
    /// - Returns: what to do about it.
    package mutating func apply(
        _ event: Event,
        at now: WallTime,
        jitter: Double,
        took: Duration = .zero
    ) -> [Effect] {
        switch event {
        case .slotGranted(let order): grantSlot(order)
        case .displaced: displace()
        case .held(let obstacle): meet(obstacle, at: now)
        case .released: requeue { Hold.byTheWorld.contains($0) }
        case .retryDue: requeue { $0.retryAt != nil }
        case .networkBack: tryAgain(at: now)
        case .serviceStarted: comeBack(at: now)
        case .partialFound(let size): measurePartial(size)
        case .publicationFound(let name, let size): findPublication(name, size, at: now)
        case .partialDeleted: finishDeletion()
        case .deletionFailed(let failure, let wait): waitOut(failure, wait, at: now)
        case .move(let event, let place): apply(event, to: place)
        case .leftoverDeleted: forgetLeftover()
        case .verified(let mismatch): note(mismatch)
        case .transfer(let event, let number):
            apply(event, of: number, at: now, jitter: jitter, took: took)
        }
    }

    private mutating func grantSlot(_ order: Int64) -> [Effect] {
        guard state == .waiting(.queue), !isDeleting, !isMoving else { return [] }
        state = .downloading
        attempt = attempt.next
        startOrder = order
        // What the disk has refused is tried again. The failure of a move stays, as nothing else
        // tells of it.
        if let failure, !failure.code.isOfSource,
            failure.isTransient || failure.neededSpace != nil
        {
            self.failure = nil
        }
        return [.persist, .announce, .startTransfer(attempt)]
    }

    private mutating func displace() -> [Effect] {
        guard state == .downloading, !isPublishing else { return [] }
        state = .waiting(.queue)
        return [.persist, .stopTransfer(attempt), .announce]
    }

    private mutating func meet(_ obstacle: Obstacle, at now: WallTime) -> [Effect] {
        guard !isPublishing, !isDeleting else { return [] }
        switch state {
        case .waiting(.queue): return hold(by: obstacle, at: now)
        case .downloading:
            var effects = hold(by: obstacle, at: now)
            effects.insert(.stopTransfer(attempt), at: 1)
            return effects + [.fillSlots]
        case .waiting, .paused, .completed, .failed, .cancelled: return []
        }
    }

    private mutating func requeue(_ isOver: (Hold) -> Bool) -> [Effect] {
        guard case .waiting(let hold) = state, isOver(hold) else { return [] }
        state = .waiting(.queue)
        return [.persist, .announce, .fillSlots]
    }

    /// Ends the back-off after a failure of the network, which counts neither as a try nor as a wait.
    private mutating func tryAgain(at now: WallTime) -> [Effect] {
        guard case .waiting(.retry(let deadline)) = state, let failure,
            failure.code.isOfNetwork, failure.retryAfter == nil
        else { return [] }
        waited = max(.zero, waited - max(.zero, deadline.since(now)))
        tries = max(1, tries) - 1
        return requeue { $0.retryAt != nil }
    }

    private mutating func comeBack(at now: WallTime) -> [Effect] {
        switch state {
        case .downloading, .waiting(.offline), .waiting(.metered), .waiting(.battery),
            .waiting(.space), .waiting(.settings):
            // Whether a hold still applies is checked before the task starts. The file of an open
            // publication is looked for first.
            state = .waiting(.queue)
            return [.persist, .announce]
        case .waiting(.retry(let deadline)):
            let rest = RetryPolicy.remaining(until: deadline, now: now, after: failure)
            // The full wait was counted when it began: subtract the part that is left out.
            waited = max(.zero, waited - max(.zero, deadline.since(now) - rest))
            state = .waiting(.retry(at: now.advanced(by: rest)))
            return [.persist, .announce, .scheduleRetry(after: rest)]
        case .waiting(.queue), .paused, .completed, .failed, .cancelled:
            return []
        }
    }

    private mutating func measurePartial(_ size: Int64?) -> [Effect] {
        guard state != .completed, state != .downloading, file != nil, !isDeleting, !isMoving
        else { return [] }
        let before = self
        intent = nil
        if let size {
            // A crash may have cut the file shorter than the record says.
            segments.truncate(to: size)
        } else {
            file = nil
            forgetContent()
        }
        stretchStart = min(stretchStart, segments.byteCount)
        guard self != before else { return [] }
        return [.persist, .announce]
    }

    private mutating func findPublication(
        _ name: String,
        _ size: Int64,
        at now: WallTime
    ) -> [Effect] {
        guard state != .downloading, case .publish = intent else { return [] }
        return complete(name, size, request.provenIntegrity(of: remote), at: now)
    }

    private mutating func finishDeletion() -> [Effect] {
        if intent == .remove { return [.erase] }
        guard intent == .discard else { return [] }
        // The task waited for this.
        if state.isBackOff { (state, failure) = (.waiting(.queue), nil) }
        intent = nil
        move = nil
        file = nil
        forgetContent()
        return [.persist, .announce, .fillSlots]
    }

    /// Shows a task that waits for the deletion of its old file why it waits, and until when.
    private mutating func waitOut(_ failure: Failure, _ wait: Duration, at now: WallTime)
        -> [Effect]
    {
        guard isDeleting, state.kind == .waiting else { return [] }
        self.failure = failure
        state = .waiting(.retry(at: now.advanced(by: wait)))
        return [.persist, .announce]
    }

    private mutating func note(_ mismatch: Failure?) -> [Effect] {
        guard state == .completed else { return [] }
        let before = self
        if mismatch != nil {
            integrity = Integrity.none
        } else if request.hasDigest(of: remote) {
            integrity = .checksum
        } else if integrity == .checksum || failure != nil && integrity == Integrity.none {
            integrity = remote.provenIntegrity
        }
        failure = mismatch
        guard self != before else { return [] }
        return [.persist, .announce]
    }

    mutating func complete(
        _ name: String,
        _ size: Int64,
        _ integrity: Integrity,
        at now: WallTime
    ) -> [Effect] {
        state = .completed
        intent = nil
        file?.name = name
        remote.total = size
        segments = SegmentMap(ByteRange(first: 0, length: size).map { [$0] } ?? [])
        self.integrity = integrity
        failure = nil
        tries = 0
        waited = .zero
        request.cookies = nil
        finishedAt = now
        // A private download leaves nothing but its file.
        if request.isPrivate {
            if leavesCopy {
                intent = .remove
                return [.persist, .announce, .announceRemoved, .deletePartial, .fillSlots]
            }
            return [.persist, .announce, .erase, .announceRemoved, .fillSlots]
        }
        return [.persist, .announce, .fillSlots]
    }
}
