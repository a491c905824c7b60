// SPDX-License-Identifier: Apache-2.0

extension OfferedFile {
    /// Whether the link that gave this file, which a browser hands over, fits a task that is
    /// unfinished or whose link has expired.
    ///
    /// It has to come from the same page and to offer the same name and size at the same scheme,
    /// host and port. A page of another site cannot name that page as its own. The caller has to
    /// know whether one browser profile has handed both links over. The user is then asked whether
    /// to continue the task.
    ///
    /// - Parameters:
    ///   - task: the task.
    ///   - request: the request of the new download, which this file answers.
    /// - Returns: whether the link fits.
    package func mayContinue(_ task: TaskRecord, by request: TaskRequest) -> Bool {
        guard Self.isWanted(by: task), !task.request.isPrivate, !request.isPrivate,
            let origin = request.origin, origin == task.request.origin,
            let page = request.referrer, page == task.request.referrer, Self.isPage(page),
            let total = version.total, total == task.remote.total
        else { return false }
        return (request.fileName ?? name) == (task.request.fileName ?? task.file?.name)
    }

    private static func isWanted(by task: TaskRecord) -> Bool {
        guard task.intent == nil else { return false }
        return switch task.state {
        case .waiting, .downloading, .paused: true
        case .failed: task.failure?.code.tellsOfAnExpiredLink == true
        case .completed, .cancelled: false
        }
    }

    /// Whether a referrer names a page.
    ///
    /// For another site, browsers cut it to `https://host/`, which does not tell the page that had
    /// the link.
    private static func isPage(_ referrer: String) -> Bool {
        guard let parts = URLParts(referrer) else { return false }
        return parts.path.utf8.count > 1 || referrer.utf8.contains(UInt8(ascii: "?"))
    }
}
