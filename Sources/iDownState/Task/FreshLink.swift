// SPDX-License-Identifier: Apache-2.0

/// What a browser hands over, as a link that may lead to an unfinished task's file.
///
/// The same page offers the same name and size at the same scheme, host and port. A page of another
/// site cannot name that page as its own. Whether one profile of a browser has handed both over is
/// for the caller to know.
package struct FreshLink: Hashable, Sendable {
    private let request: TaskRequest
    private let file: OfferedFile

    /// - Parameters:
    ///   - request: what the new download asks for.
    ///   - file: the answer that it got.
    package init(_ request: TaskRequest, to file: OfferedFile) {
        self.request = request
        self.file = file
    }

    /// Whether a task is unfinished, or its link has expired, and all of it fits, so that the user is
    /// asked.
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

    /// Whether a referrer names a page: browsers cut it to `https://host/` for another site, and
    /// then nobody knows which page had the link.
    private static func isPage(_ referrer: String) -> Bool {
        guard let parts = URLParts(referrer) else { return false }
        return parts.path.utf8.count > 1 || referrer.utf8.contains(UInt8(ascii: "?"))
    }
}
