// SPDX-License-Identifier: Apache-2.0

extension TaskRecord {
    /// Returns whether a browser's new download may be a fresh link to this unfinished task, so that
    /// the user is asked.
    ///
    /// The same page offers the same name and size at the same scheme, host and port. A page of
    /// another site cannot name that page as its own. Whether one profile of a browser has handed
    /// both over is for the caller to know.
    ///
    /// - Parameters:
    ///   - request: what the new download asks for.
    ///   - file: the answer that it got.
    /// - Returns: whether all of that fits, and this task is unfinished or its link has expired.
    package func mayContinue(with request: TaskRequest, bringing file: OfferedFile) -> Bool {
        guard wantsFreshLink, !self.request.isPrivate, !request.isPrivate,
            let origin = request.origin, origin == self.request.origin,
            let page = request.referrer, page == self.request.referrer, Self.isPage(page),
            let total = file.version.total, total == remote.total
        else { return false }
        return (request.fileName ?? file.name) == (self.request.fileName ?? self.file?.name)
    }

    private var wantsFreshLink: Bool {
        guard intent == nil else { return false }
        return switch state {
        case .waiting, .downloading, .paused: true
        case .failed: failure?.code.tellsOfAnExpiredLink == true
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
