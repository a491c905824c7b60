// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

/// Everything that tells one task from another in the eyes of the machine.
enum Situation: String, CaseIterable, Sendable {
    /// Just added: nothing on disk.
    case queued
    case queuedWithBytes
    case backingOff
    case offline
    case metered
    case drained
    case withoutSpace
    case withoutSettings
    /// Downloading, no answer yet.
    case connecting
    case downloading
    /// Downloading; the file is being given its name.
    case publishing
    /// The service ended while the file was being given its name.
    case publicationInterrupted
    /// Waiting for the next try; the file may have its name, and the last one could not say so.
    case publicationUntold
    /// The same, failed for good.
    case publicationFailed
    case paused
    case pausedWithBytes
    case failed
    /// Failed so that the bytes on disk are worth nothing.
    case spoiled
    case completed
    case cancelled
    /// Cancelled; the partial file is being deleted.
    case discarding
    case queuedWhileDiscarding
    case pausedWhileDiscarding
    case removing

    func record() throws -> TaskRecord {
        var record = try Sample.record()
        record.state = state
        record.intent = intent
        if self != .queued { record.attempt = Sample.attempt }
        if hasFile {
            record.file = Sample.file
            record.remote = Sample.remote
            record.segments = Sample.first(Sample.half)
        }
        switch self {
        case .publishing, .publicationInterrupted:
            record.segments = Sample.first(Sample.total)
        case .publicationUntold, .publicationFailed:
            record.segments = Sample.first(Sample.total)
            record.failure = Sample.unsynced
            record.tries = 1
            record.stretchStart = Sample.total
        case .backingOff:
            record.failure = Sample.reset
            record.tries = 1
            record.stretchStart = Sample.half
        case .withoutSpace:
            record.failure = Sample.full
            record.stretchStart = Sample.half
        case .failed:
            record.failure = Sample.missing
            record.tries = 1
            record.stretchStart = Sample.half
        case .spoiled:
            record.failure = Sample.mismatch
            record.segments = Sample.first(Sample.total)
        case .completed:
            record.segments = Sample.first(Sample.total)
            record.integrity = .validators
            record.finishedAt = Sample.now
        case .queued, .queuedWithBytes, .offline, .metered, .drained, .withoutSettings, .connecting,
            .downloading, .paused, .pausedWithBytes, .cancelled, .discarding,
            .queuedWhileDiscarding, .pausedWhileDiscarding, .removing:
            break
        }
        return record
    }

    private var state: TaskState {
        switch self {
        case .queued, .queuedWithBytes, .publicationInterrupted, .queuedWhileDiscarding:
            .waiting(.queue)
        case .backingOff, .publicationUntold: .waiting(.retry(at: Sample.deadline))
        case .offline: .waiting(.offline)
        case .metered: .waiting(.metered)
        case .drained: .waiting(.battery)
        case .withoutSpace: .waiting(.space)
        case .withoutSettings: .waiting(.settings)
        case .connecting, .downloading, .publishing: .downloading
        case .paused, .pausedWithBytes, .pausedWhileDiscarding: .paused
        case .failed, .spoiled, .publicationFailed: .failed
        case .completed: .completed
        case .cancelled, .discarding, .removing: .cancelled
        }
    }

    private var intent: Intent? {
        switch self {
        case .publishing, .publicationInterrupted, .publicationUntold, .publicationFailed:
            .publish(name: Sample.name)
        case .discarding, .queuedWhileDiscarding, .pausedWhileDiscarding: .discard
        case .removing: .remove
        case .queued, .queuedWithBytes, .backingOff, .offline, .metered, .drained, .withoutSpace,
            .withoutSettings, .connecting, .downloading, .paused, .pausedWithBytes, .failed,
            .spoiled, .completed, .cancelled:
            nil
        }
    }

    private var hasFile: Bool {
        switch self {
        case .queued, .connecting, .paused, .cancelled: false
        case .queuedWithBytes, .backingOff, .offline, .metered, .drained, .withoutSpace,
            .withoutSettings, .downloading, .publishing, .publicationInterrupted,
            .publicationUntold, .publicationFailed, .pausedWithBytes,
            .failed, .spoiled, .completed, .discarding, .queuedWhileDiscarding,
            .pausedWhileDiscarding, .removing:
            true
        }
    }
}
