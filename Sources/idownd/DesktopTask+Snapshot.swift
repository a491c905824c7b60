// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownDesktop
import iDownService
import iDownState

extension DesktopTask {
    /// Makes the desktop's view of a task, without its secrets.
    init(_ snapshot: TaskSnapshot) {
        let (record, live) = (snapshot.record, snapshot.live)
        self.init(
            id: record.id.description,
            state: State(record.state.kind),
            name: record.request.isPrivate ? nil : record.displayName,
            directory: record.request.directory,
            url: record.request.isPrivate
                ? "" : TaskProperties.withoutQuery(record.request.urlWithoutLogin),
            site: record.request.isPrivate ? "" : Self.site(of: record.request),
            path: record.path,
            failure: record.failure?.message ?? "",
            errorCode: record.failure?.code.rawValue ?? "",
            whenDone: record.request.whenDone.flatMap { WhenDone(rawValue: $0.rawValue) },
            bytes: live?.bytes ?? record.segments.byteCount,
            totalBytes: record.remote.total,
            bytesPerSecond: live?.bytesPerSecond ?? 0
        )
    }
}

extension DesktopTask {
    /// Returns the host of the page that had the link, or else of the link itself.
    fileprivate static func site(of request: TaskRequest) -> String {
        (request.referrer.flatMap { Origin(url: $0) } ?? request.origin)?.host ?? ""
    }
}

extension DesktopTask.State {
    fileprivate init(_ kind: TaskState.Kind) {
        self =
            switch kind {
            case .waiting: .waiting
            case .downloading: .downloading
            case .paused: .paused
            case .completed: .completed
            case .failed: .failed
            case .cancelled: .cancelled
            }
    }
}
