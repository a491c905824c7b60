// SPDX-License-Identifier: Apache-2.0

extension TaskRecord {
    /// Carries out a command as the contract's state table says.
    ///
    /// A verb for what the task already is succeeds and does nothing: no effects.
    package mutating func apply(_ command: Command) throws(Refusal) -> [Effect] {
        guard intent != .remove else { throw .gone }
        guard !mustSettle(before: command) else { throw .publishing }
        switch command {
        case .pause: return try pause()
        case .resume: return try resume()
        case .retry: return try retry()
        case .cancel: return try cancel()
        case .remove: return remove()
        }
    }

    /// Gives the task another place in the queue; what runs goes on running.
    package mutating func setPriority(_ priority: Int32) throws(Refusal) -> [Effect] {
        guard intent != .remove else { throw .gone }
        guard self.priority != priority else { return [] }
        self.priority = priority
        return [.persist, .announce]
    }

    /// Changes the most bytes a second; 0 for no limit.
    package mutating func limitSpeed(to limit: Int64) throws(Refusal) -> [Effect] {
        guard intent != .remove else { throw .gone }
        guard limit != speedLimit else { return [] }
        speedLimit = limit
        return [.persist, .limitSpeed(limit), .announce]
    }

    /// Changes the most connections at once, 1…16; nil takes the service's setting.
    package mutating func limitConnections(to number: Int?) throws(Refusal) -> [Effect] {
        guard intent != .remove else { throw .gone }
        guard number != request.connections else { return [] }
        request.connections = number
        return [.persist, .limitConnections(number), .announce]
    }

    private mutating func pause() throws(Refusal) -> [Effect] {
        switch state {
        case .waiting:
            state = .paused
            return [.persist, .announce]
        case .downloading:
            state = .paused
            return [.persist, .stopTransfer(attempt), .announce, .fillSlots]
        case .paused:
            return []
        case .failed, .completed, .cancelled:
            throw .invalidState(.pause, state.kind)
        }
    }

    private mutating func resume() throws(Refusal) -> [Effect] {
        switch state {
        case .waiting, .downloading: []
        case .paused, .failed, .cancelled: restart()
        case .completed: throw .invalidState(.resume, .completed)
        }
    }

    private mutating func retry() throws(Refusal) -> [Effect] {
        switch state {
        case .waiting(.queue), .downloading:
            return []
        case .waiting, .paused, .failed, .cancelled:
            return restart()
        case .completed:
            // The finished file stays where it is; the next one gets a free name beside it, whatever
            // the first was to do about files of others.
            request.onExisting = .rename
            forgetContent()
            if isMoving { move = nil }
            file = nil
            integrity = nil
            listedTasks = []
            finishedAt = nil
            return restart()
        }
    }

    private mutating func cancel() throws(Refusal) -> [Effect] {
        let wasDownloading = state == .downloading
        switch state {
        case .waiting, .downloading, .paused, .failed: state = .cancelled
        case .cancelled: return []
        case .completed: throw .invalidState(.cancel, .completed)
        }
        request.cookies = nil
        var effects: [Effect] = [.persist]
        if wasDownloading { effects.append(.stopTransfer(attempt)) }
        effects.append(.announce)
        if file != nil {
            intent = .discard
            effects.append(.deletePartial)
        }
        if wasDownloading { effects.append(.fillSlots) }
        return effects
    }

    private mutating func remove() -> [Effect] {
        let wasDownloading = state == .downloading
        // A finished file is the user's; only what is unfinished goes with its task, and the copy
        // that a move has left.
        let hasPart = state != .completed && (file != nil || wasDownloading)
        guard hasPart || leavesCopy else { return [.erase, .announceRemoved] }
        intent = .remove
        state = .cancelled
        request.cookies = nil
        var effects: [Effect] = [.persist]
        if wasDownloading { effects.append(.stopTransfer(attempt)) }
        effects += [.announceRemoved, .deletePartial]
        if wasDownloading { effects.append(.fillSlots) }
        return effects
    }

    /// Back into the queue by a verb: the past failures no longer count.
    mutating func restart() -> [Effect] {
        forgetFailures()
        state = .waiting(.queue)
        return [.persist, .announce, .fillSlots]
    }

    /// The past failures no longer count.
    mutating func forgetFailures() {
        if failure?.code.spoilsContent == true { forgetContent() }
        failure = nil
        beginStretch()
    }

    /// The bytes on disk are worth nothing any more.
    mutating func forgetContent() {
        segments = SegmentMap()
        stretchStart = 0
        remote = RemoteVersion()
    }
}
