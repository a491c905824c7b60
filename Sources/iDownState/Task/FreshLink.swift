// SPDX-License-Identifier: Apache-2.0

/// A link that a browser hands over and that may lead to the file of an unfinished task.
///
/// It has to come from the same page and to offer the same name and size at the same scheme, host
/// and port. A page of another site cannot name that page as its own. The caller has to know
/// whether one browser profile has handed both links over.
package struct FreshLink: Hashable, Sendable {
    private let request: TaskRequest
    private let file: OfferedFile

    /// - Parameters:
    ///   - request: the request of the new download.
    ///   - file: the answer to it.
    package init(_ request: TaskRequest, to file: OfferedFile) {
        self.request = request
        self.file = file
    }

    /// Whether the link fits a task that is unfinished or whose link has expired.
    ///
    /// The user is then asked whether to continue the task.
    package func mayContinue(_ task: TaskRecord) -> Bool {
        guard Self.isWanted(by: task), !task.request.isPrivate, !request.isPrivate,
            let origin = request.origin, origin == task.request.origin,
            let page = request.referrer, page == task.request.referrer, Self.isPage(page),
            let total = file.version.total, total == task.remote.total
        else { return false }
        return (request.fileName ?? file.name) == (task.request.fileName ?? task.file?.name)
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
