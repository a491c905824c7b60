// SPDX-License-Identifier: Apache-2.0

extension TaskRecord {
    /// Replaces the task's URL with a fresh link; the caller handles a running transfer.
    ///
    /// The bytes on disk stay, and the next transfer has to prove that the new URL has the same
    /// ones. Headers, cookies and referrer for the old origin are not sent to another one. A link
    /// of the same origin without a login keeps the old link's login.
    ///
    /// - Parameters:
    ///   - url: the link, in normal form.
    ///   - isSameOrigin: whether it has the scheme, host and port of the old one.
    /// - Returns: whether the task has gone back into the queue.
    mutating func takeLink(_ url: String, isSameOrigin: Bool) -> Bool {
        let url = isSameOrigin ? request.withLogin(url) : url
        let isNew = url != request.url
        if isNew { take(url, isSameOrigin: isSameOrigin) }
        switch state {
        case .waiting(.queue), .paused, .completed, .cancelled: return false
        case .downloading:
            if isNew { forgetFailures() }
            return false
        case .waiting where !isNew:
            // The task waits because of this very link.
            return false
        case .failed, .waiting: return restart().contains(.fillSlots)
        }
    }

    private mutating func take(_ url: String, isSameOrigin: Bool) {
        request.take(url, isSameOrigin: isSameOrigin)
        if !isSameOrigin { hostHasAnswered = false }
        forgetOffer()
        remote.needsProof = true
        remote.refusesRanges = false
        remote.dislikesIfRange = false
    }

    /// Forgets the version that an answer has offered, of which there is no file yet.
    mutating func forgetOffer() {
        if file == nil, remote.needsProof { remote = RemoteVersion() }
    }
}

extension TaskRequest {
    /// Returns the link with the login of the present URL.
    fileprivate func withLogin(_ url: String) -> String {
        URLParts(self.url)?.login.map { URLParts.adding($0, to: url) } ?? url
    }

    fileprivate mutating func take(_ url: String, isSameOrigin: Bool) {
        self.url = url
        // The user may give a link to any host, unlike a metalink.
        metalinkReach = nil
        guard !isSameOrigin else { return }
        headers = []
        cookies = nil
        referrer = nil
        keptLogins?.isForURL = false
    }
}
