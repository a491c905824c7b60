// SPDX-License-Identifier: Apache-2.0

extension TaskRecord {
    /// Puts a fresh link in the place of one that expired.
    ///
    /// The bytes on disk stay; whether they are those of the new URL, the next transfer has to
    /// prove. What the client gave for the old origin alone does not go to another; a link of the
    /// same origin that has no login keeps the old one's. A running transfer is stopped, and the next
    /// one begins in its slot.
    ///
    /// - Parameters:
    ///   - url: the link, in normal form.
    ///   - isSameOrigin: whether scheme, host and port are those of the old one.
    /// - Returns: what is to be done; nothing where the task has that URL and needs no push.
    /// - Throws: `keepsURL` for a task that is completed or cancelled.
    package mutating func setURL(
        _ url: String,
        isSameOrigin: Bool
    ) throws(Refusal) -> [Effect] {
        var effects = try takeLink(url, isSameOrigin: isSameOrigin)
        guard state == .downloading, !effects.isEmpty, !isMoving else { return effects }
        effects.insert(.stopTransfer(attempt), at: 1)
        attempt = attempt.next
        return effects + [.startTransfer(attempt)]
    }

    /// Takes the link, and leaves a running transfer to the caller.
    mutating func takeLink(
        _ url: String,
        isSameOrigin: Bool
    ) throws(Refusal) -> [Effect] {
        guard intent != .remove else { throw .gone }
        guard !isPublishing else { throw .publishing }
        guard state.isUnfinished else { throw .keepsURL(state.kind) }
        let url = isSameOrigin ? withLogin(url) : url
        let isNew = url != request.url
        if isNew { take(url, isSameOrigin: isSameOrigin) }
        switch state {
        case .failed:
            return restart()
        case .paused, .waiting(.queue):
            return isNew ? [.persist, .announce] : []
        case .waiting:
            // What made it wait was said of the old link.
            return isNew ? restart() : []
        case .downloading:
            guard isNew else { return [] }
            forgetFailures()
            return [.persist, .announce]
        case .completed, .cancelled:
            return []
        }
    }

    private func withLogin(_ url: String) -> String {
        URLParts(request.url)?.login.map { URLParts.adding($0, to: url) } ?? url
    }

    private mutating func take(_ url: String, isSameOrigin: Bool) {
        request.url = url
        // Whoever gives a link means it, wherever it leads.
        request.metalinkReach = nil
        if !isSameOrigin {
            request.headers = []
            request.cookies = nil
            request.referrer = nil
            hostHasAnswered = false
            request.keptLogins?.isForURL = false
        }
        remote.needsProof = true
        remote.refusesRanges = false
        remote.dislikesIfRange = false
    }
}
