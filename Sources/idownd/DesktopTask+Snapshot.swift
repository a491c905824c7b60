// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownDesktop
import iDownService
import iDownState

extension DesktopTask {
    /// Makes the desktop's view of a task, without its secrets.
    init(_ snapshot: TaskSnapshot) {
        let (record, live) = (snapshot.record, snapshot.live)
        self.init(id: record.id.description, state: record.state.kind)
        if record.request.isPrivate {
            name = nil
        } else {
            name = record.displayName
            url = TaskProperties.withoutQuery(record.request.urlWithoutLogin)
            site = Self.site(of: record.request)
            failure = record.failure?.message ?? ""
        }
        directory = record.request.directory
        path = record.path
        errorCode = record.failure?.code.rawValue ?? ""
        whenDone = record.request.whenDone
        bytes = live?.bytes ?? record.segments.byteCount
        totalBytes = record.remote.total
        bytesPerSecond = live?.bytesPerSecond ?? 0
    }

    /// Returns the host of the page that had the link, or else of the link itself.
    private static func site(of request: TaskRequest) -> String {
        (request.referrer.flatMap { Origin(url: $0) } ?? request.origin)?.host ?? ""
    }
}
