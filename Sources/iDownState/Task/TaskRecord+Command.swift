// SPDX-License-Identifier: Apache-2.0

extension TaskRecord {
    /// Carries out a command by the contract's state table.
    ///
    /// A command for what the task already is succeeds and has no effects.
    /// `onStuckDisk` says that a transfer of the task runs and its disk does not answer.
    package mutating func apply(
        _ command: Command,
        onStuckDisk: Bool = false
    ) throws(Refusal) -> [Effect] {
        guard intent != .remove else { throw .gone }
        guard !mustSettle(before: command, onStuckDisk: onStuckDisk) else { throw .publishing }
        switch command {
        case .pause: return try pause()
        case .resume: return try resume()
        case .retry: return try retry()
        case .cancel: return try cancel()
        case .remove: return remove()
        }
    }

    private mutating func pause() throws(Refusal) -> [Effect] {
        switch state {
        case .waiting:
            state = .paused
            return [.persist, .announce]
        case .downloading:
            state = .paused
            return [.persist, .stopTransfer(attempt), .announce, .fillSlots]
        case .paused: return []
        case .failed, .completed, .cancelled: throw .invalidState(.pause, state.kind)
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
        case .waiting(.queue), .downloading: return []
        case .waiting, .paused, .failed, .cancelled: return restart()
        case .completed:
            // The finished file stays where it is. The next one gets a free name beside it, even if
            // the request said to fail in this case.
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
        if file != nil { intent = .discard }
        forgetOffer()
        return giveUp(wasDownloading, file == nil ? [.announce] : [.announce, .deletePartial])
    }

    private mutating func remove() -> [Effect] {
        let wasDownloading = state == .downloading
        // A finished file belongs to the user. Only an unfinished one is deleted with its task, and
        // the original that a move has left.
        let hasPart = state != .completed && (file != nil || wasDownloading)
        guard hasPart || leavesCopy else { return [.erase, .announceRemoved] }
        intent = .remove
        state = .cancelled
        return giveUp(wasDownloading, [.announceRemoved, .deletePartial])
    }

    /// Ends the task's transfer, if one runs, and returns the effects around these.
    private mutating func giveUp(_ wasDownloading: Bool, _ effects: [Effect]) -> [Effect] {
        request.cookies = nil
        guard wasDownloading else { return [.persist] + effects }
        return [.persist, .stopTransfer(attempt)] + effects + [.fillSlots]
    }

    /// Puts the task back into the queue after a command; past failures no longer count.
    mutating func restart() -> [Effect] {
        forgetFailures()
        state = .waiting(.queue)
        return [.persist, .announce, .fillSlots]
    }

    /// Forgets past failures, and the bytes that the last failure made worthless.
    mutating func forgetFailures() {
        // A head with a wrong size, before all bytes are there, says nothing about those on disk.
        let isOfHead = failure?.code == .sizeMismatch && remote.total.map(segments.covers) == false
        if failure?.code.spoilsContent == true, !isOfHead { forgetContent() }
        failure = nil
        beginStretch()
    }

    /// Forgets the bytes on disk, which are worthless, and their version.
    mutating func forgetContent() {
        segments = SegmentMap()
        stretchStart = 0
        remote = RemoteVersion()
    }
}
