// SPDX-License-Identifier: Apache-2.0

extension TaskRecord {
    /// Puts a fresh link in the place of one that expired; a running transfer is the caller's.
    ///
    /// The bytes on disk stay; whether they are those of the new URL, the next transfer has to
    /// prove. What the client gave for the old origin alone does not go to another; a link of the
    /// same origin that has no login keeps the old one's.
    ///
    /// - Parameters:
    ///   - url: the link, in normal form.
    ///   - isSameOrigin: whether scheme, host and port are those of the old one.
    /// - Returns: whether the task has gone back into the queue.
    mutating func takeLink(_ url: String, isSameOrigin: Bool) -> Bool {
        let url = isSameOrigin ? request.withLogin(url) : url
        let isNew = url != request.url
        if isNew { take(url, isSameOrigin: isSameOrigin) }
        switch state {
        case .waiting(.queue), .paused, .completed, .cancelled:
            return false
        case .downloading:
            if isNew { forgetFailures() }
            return false
        case .waiting where !isNew:
            // What made it wait was said of this very link.
            return false
        case .failed, .waiting:
            return restart().contains(.fillSlots)
        }
    }

    private mutating func take(_ url: String, isSameOrigin: Bool) {
        request.take(url, isSameOrigin: isSameOrigin)
        if !isSameOrigin { hostHasAnswered = false }
        remote.needsProof = true
        remote.refusesRanges = false
        remote.dislikesIfRange = false
    }
}

extension TaskRequest {
    /// The link with the login of the present one.
    fileprivate func withLogin(_ url: String) -> String {
        URLParts(self.url)?.login.map { URLParts.adding($0, to: url) } ?? url
    }

    fileprivate mutating func take(_ url: String, isSameOrigin: Bool) {
        self.url = url
        // Whoever gives a link means it, wherever it leads.
        metalinkReach = nil
        guard !isSameOrigin else { return }
        headers = []
        cookies = nil
        referrer = nil
        keptLogins?.isForURL = false
    }
}
