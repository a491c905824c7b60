// SPDX-License-Identifier: Apache-2.0

extension TaskRecord {
    /// Takes note of what the transfer with this number reports.
    ///
    /// Of an older one only the last checkpoint counts: that transfer ends before the next one begins.
    mutating func apply(
        _ event: TransferEvent,
        of number: AttemptNumber,
        at now: WallTime,
        jitter: Double,
        took: Duration
    ) -> [Effect] {
        guard attempt != .none else { return [] }
        if case .checkpointed(let segments) = event, number < attempt, number != .none {
            return checkpoint(segments)
        }
        guard number == attempt else { return [] }
        switch event {
        case .opened(let file, let remote, let kept): return open(file, remote, kept)
        case .arrived(let file, let remote): return arrive(file, remote)
        case .checkpointed(let segments): return checkpoint(segments)
        case .listed(let tasks): return list(tasks)
        case .publishing(let name): return beginPublication(name)
        case .completed(let name, let size, let integrity, let folder):
            guard case .publish = intent else { return [] }
            if let folder { request.directory = folder }
            return complete(name, size, integrity, at: now)
        case .failed(let failure): return fail(failure, at: now, jitter: jitter, took)
        case .held(let obstacle): return stepAside(for: obstacle, at: now)
        }
    }

    private mutating func open(
        _ file: LocalFile,
        _ remote: RemoteVersion,
        _ kept: SegmentMap
    ) -> [Effect] {
        guard state == .downloading else { return [] }
        // An earlier attempt's file has no final name: the transfer has looked.
        intent = nil
        // What is fetched once more is no progress: a server without ranges that breaks off again
        // and again would be asked for ever. Only another file's first bytes are.
        let isSameFile = self.file == file && self.remote.mayBeFile(of: remote)
        let isRepetition = isSameFile && kept.byteCount < segments.byteCount
        stretchStart =
            isRepetition
            ? max(stretchStart, segments.byteCount) : min(stretchStart, kept.byteCount)
        self.file = file
        self.remote = remote
        segments = kept
        hostHasAnswered = true
        return [.persist, .announce]
    }

    private mutating func arrive(_ file: LocalFile, _ remote: RemoteVersion) -> [Effect] {
        guard state == .downloading else { return [] }
        intent = .publish(name: file.name)
        self.file = file
        self.remote = remote
        // Without a name a file does not outlive a crash: nothing of it is claimed yet.
        segments = SegmentMap()
        stretchStart = 0
        // Its end comes at once, and the next one gets ready for its slot.
        return [.persist, .announceLater, .fillSlots]
    }

    /// A stopped transfer's last checkpoint counts too: only its place on disk matters.
    private mutating func checkpoint(_ segments: SegmentMap) -> [Effect] {
        guard state != .completed, state != .cancelled, file != nil, !isDeleting else {
            return []
        }
        // Bytes that were wrong are no progress that was made.
        let isCut = segments.byteCount < self.segments.byteCount
        if isCut { stretchStart = min(stretchStart, segments.byteCount) }
        self.segments = segments
        let tries = tries
        noteProgress()
        // Progress has its own pace; what a stopped transfer has kept is told at once.
        let isProgress = state == .downloading && self.tries == tries
        return isProgress ? [.persist] : [.persist, .announce]
    }

    private mutating func list(_ tasks: [TaskID]) -> [Effect] {
        guard state == .downloading else { return [] }
        listedTasks = tasks
        return [.persist, .announce]
    }

    private mutating func beginPublication(_ name: String) -> [Effect] {
        guard state == .downloading, file != nil else { return [] }
        // Once more with the next name, when the first turned out to be taken.
        intent = .publish(name: name)
        return [.persist, .fillSlots]
    }

    /// Ends the stretch once enough has come since it began; bytes that came before do not count.
    private mutating func noteProgress() {
        guard segments.byteCount - stretchStart >= RetryPolicy.progress else { return }
        beginStretch()
    }

    /// Keeps the bytes and the count of tries.
    private mutating func stepAside(for obstacle: Obstacle, at now: WallTime) -> [Effect] {
        guard state == .downloading else { return [] }
        noteProgress()
        return hold(by: obstacle, at: now) + [.fillSlots]
    }

    private mutating func fail(
        _ failure: Failure,
        at now: WallTime,
        jitter: Double,
        _ took: Duration
    ) -> [Effect] {
        guard state == .downloading else { return [] }
        hostHasAnswered = hostHasAnswered || failure.isAfterAnswer
        // A full disk is no failed try: the bytes wait for room.
        if failure.neededSpace != nil { return stepAside(for: .diskFull(failure), at: now) }
        // What is worth nothing gets no name; all else may have it by now.
        if failure.code.spoilsContent { intent = nil }
        noteProgress()
        // The stretch begins with the first failure. The computer may have slept during a try.
        if tries > 0 { waited += min(max(.zero, took), RetryPolicy.cap) }
        tries = tries == .max ? .max : tries + 1
        self.failure = failure
        self.failure?.isAfterAnswer = false
        switch RetryPolicy.verdict(on: failure, stretch, jitter: jitter) {
        case .giveUp(let failure):
            return failForGood(of: failure) + [.fillSlots]
        case .retry(let wait):
            // By a verb, `restart` forgets them.
            if failure.code.spoilsContent { forgetContent() }
            waited += wait
            state = .waiting(.retry(at: now.advanced(by: wait)))
            return [.persist, .announce, .scheduleRetry(after: wait), .fillSlots]
        }
    }
}
