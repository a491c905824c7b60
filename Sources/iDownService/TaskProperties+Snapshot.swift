// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownState

extension TaskProperties {
    /// Takes the properties of a task as the contract defines them, with the URL's query.
    init(_ snapshot: TaskSnapshot) {
        let (record, live) = (snapshot.record, snapshot.live)
        self.init()
        id = record.id.description
        serial = UInt64(clamping: record.serial)
        url = record.request.urlWithoutLogin
        fileName = record.displayName
        directory = record.request.directory
        path = record.path ?? ""
        state = State(rawValue: record.state.kind.rawValue)
        // Between two transfers of a task that keeps its slot, there is no live state.
        activity =
            live.flatMap { Activity(rawValue: $0.activity) }
            ?? (record.state == .downloading ? .connecting : .none)
        if snapshot.isVerifying { activity = .verifying }
        if record.isMoving { activity = .moving }
        if let hold = record.state.hold {
            self.hold = Hold(rawValue: hold.name)
            retryAt = UInt64(clamping: hold.retryAt?.microseconds ?? 0)
        }
        downloadedBytes = UInt64(clamping: live?.bytes ?? record.segments.byteCount)
        totalBytes = record.remote.total ?? -1
        speed = live?.bytesPerSecond ?? 0
        progress = Self.progress(downloadedBytes, record.remote.total)
        errorCode = record.failure?.code.rawValue ?? ""
        errorMessage = record.failure?.message(for: record.id) ?? ""
        attempts = record.tries
        connections = live?.connections ?? 0
        segments = (live?.segments ?? record.segments).ranges.map {
            Structure(UInt64(clamping: $0.first), UInt64(clamping: $0.length))
        }
        resumable = record.remote.isResumable
        priority = record.priority
        speedLimit = UInt64(clamping: record.speedLimit)
        maxConnections = UInt32(clamping: record.request.connections ?? 0)
        retryFor = UInt64(clamping: record.request.retryFor)
        integrity = record.integrity.flatMap { Integrity(rawValue: $0.rawValue) } ?? .unknown
        mimeType = record.remote.mimeType
        checksum = record.request.checksum?.description ?? ""
        referrer = TaskRequest.withoutLogin(record.request.referrer ?? "")
        mirrors = record.request.mirrors.map(TaskRequest.withoutLogin)
        expectedSize = UInt64(clamping: record.request.expectedSize ?? 0)
        userAgent = record.request.userAgent ?? ""
        headerNames = record.request.headers.map(\.name)
        whenDone = record.request.whenDone?.rawValue ?? ""
        onExisting = record.request.onExisting.rawValue
        addedBy = record.request.addedBy ?? ""
        createdAt = UInt64(clamping: record.createdAt.microseconds)
        finishedAt = UInt64(clamping: record.finishedAt?.microseconds ?? 0)
        listedTasks = record.listedTasks.map(\.description)
    }

    static func progress(_ bytes: UInt64, _ total: Int64?) -> Double {
        guard let total else { return -1 }
        return total == 0 ? 1 : min(1, Double(bytes) / Double(total))
    }
}
