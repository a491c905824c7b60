// SPDX-License-Identifier: Apache-2.0

extension TaskRecord {
    /// Records an event of the transfer with this number.
    ///
    /// Of an older transfer only the last checkpoint counts; that transfer ends before the next
    /// begins.
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
        case .checkpointed(let segments): return checkpoint(segments)
        case .completed(let name, let size, let integrity, let folder):
            guard case .publish = intent else { return [] }
            if let folder { request.directory = folder }
            return complete(name, size, integrity, at: now)
        case .answered(let offer, let url):
            guard file == nil, state != .cancelled, url == request.urlWithoutLogin,
                remote.takeOffer(offer)
            else { return [] }
            return [.persist, .announce]
        // Of a stopped transfer nothing else counts.
        case _ where state != .downloading: return []
        case .opened(let file, let remote, let kept): return open(file, remote, kept)
        case .arrived(let file, let remote): return arrive(file, remote)
        case .listed(let tasks):
            listedTasks = tasks
            return [.persist, .announce]
        case .publishing(let name):
            guard file != nil else { return [] }
            // The event comes again with the next name where a name is taken.
            intent = .publish(name: name)
            return [.persist, .fillSlots]
        case .failed(let failure): return fail(failure, at: now, jitter: jitter, took)
        case .held(let obstacle): return holdTransfer(by: obstacle, at: now)
        }
    }

    private mutating func open(
        _ file: LocalFile,
        _ remote: RemoteVersion,
        _ kept: SegmentMap
    ) -> [Effect] {
        // The file of an earlier attempt was not published: the transfer has checked that.
        intent = nil
        self.file = file
        self.remote = remote
        keep(kept)
        hostHasAnswered = true
        return [.persist, .announce]
    }

    private mutating func arrive(_ file: LocalFile, _ remote: RemoteVersion) -> [Effect] {
        intent = .publish(name: file.name)
        self.file = file
        self.remote = remote
        // An unnamed file does not survive a crash: none of its bytes is claimed yet.
        segments = SegmentMap()
        stretchStart = 0
        // The task completes in a moment, so the next task can get its slot.
        return [.persist, .announceLater, .fillSlots]
    }

    /// Records a checkpoint.
    ///
    /// One of a stopped transfer counts too, because its bytes are on disk.
    private mutating func checkpoint(_ segments: SegmentMap) -> [Effect] {
        guard state != .completed, state != .cancelled, file != nil, !isDeleting else { return [] }
        keep(segments)
        let tries = tries
        noteProgress()
        // Progress is announced at its own pace; what a stopped transfer has kept, immediately.
        let isProgress = state == .downloading && self.tries == tries
        return isProgress ? [.persist] : [.persist, .announce]
    }

    /// Takes the bytes that the file has now.
    ///
    /// Bytes that are fetched once more are no progress, be they of this file or of another one: a
    /// server that breaks off each time and announces another length would be asked forever.
    private mutating func keep(_ kept: SegmentMap) {
        if kept.byteCount < segments.byteCount {
            stretchStart = max(stretchStart, segments.byteCount)
        }
        segments = kept
    }

    /// Begins a new stretch once enough bytes have come in this one; earlier bytes do not count.
    private mutating func noteProgress() {
        guard segments.byteCount - stretchStart >= RetryPolicy.progress else { return }
        beginStretch()
    }

    /// Holds the task, and keeps its bytes and its count of tries.
    private mutating func holdTransfer(by obstacle: Obstacle, at now: WallTime) -> [Effect] {
        noteProgress()
        return hold(by: obstacle, at: now) + [.fillSlots]
    }

    private mutating func fail(
        _ failure: Failure,
        at now: WallTime,
        jitter: Double,
        _ took: Duration
    ) -> [Effect] {
        hostHasAnswered = hostHasAnswered || failure.isAfterAnswer
        // A full disk is not a failed try: the task waits for space.
        if failure.neededSpace != nil {
            return holdTransfer(by: .hold(.space, after: failure), at: now)
        }
        // A file that failed its checksum is not published; any other may already be.
        if failure.code.spoilsContent { intent = nil }
        noteProgress()
        // What the host has failed says nothing of the disk.
        if !failure.code.isOfSource, self.failure?.code.isOfSource == true,
            failure.code == .fileVanished || tries >= RetryPolicy.tries
        {
            tries = 0
        }
        // The stretch begins with the first failure. The computer may have slept during the try.
        if tries > 0 { waited += min(max(.zero, took), RetryPolicy.cap) }
        tries = tries == .max ? .max : tries + 1
        self.failure = failure
        self.failure?.isAfterAnswer = false
        switch RetryPolicy.verdict(on: failure, stretch, jitter: jitter) {
        case .giveUp(let failure): return failForGood(of: failure) + [.fillSlots]
        case .retry(let wait):
            // A task that gives up keeps the wrong bytes until a command restarts it.
            if failure.code.spoilsContent { forgetContent() }
            waited += wait
            state = .waiting(.retry(at: now.advanced(by: wait)))
            return [.persist, .announce, .scheduleRetry(after: wait), .fillSlots]
        }
    }
}
