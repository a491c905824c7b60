// SPDX-License-Identifier: Apache-2.0

extension TaskRecord {
    /// Checks that these options can be changed in the task's state.
    ///
    /// - Throws: `keepsOption`, for the first option that cannot.
    package func check(_ options: [TaskEdit.Option]) throws(Refusal) {
        for option in options where !option.isAccepted(in: state.kind) {
            throw .keepsOption(option, state.kind)
        }
    }

    /// Changes the values that the edit contains, all or none.
    ///
    /// A running transfer adopts new limits. Where any other value that it uses changes, the
    /// transfer is stopped, and the next one begins in its slot with the bytes on disk. A file that
    /// gets another place is moved before that.
    ///
    /// - Parameters:
    ///   - edit: the new values.
    ///   - isSameOrigin: whether the new URL has the scheme, host and port of the old one.
    ///   - inAnyState: whether the edit holds in every state, as that of a property does.
    /// - Returns: the effects; none where the task already has these values.
    /// - Throws: as ``check(_:)``; `publishing` where the task may already be completed; `deleting`
    ///   and `moving` while the file is being deleted or moved.
    package mutating func edit(
        _ edit: TaskEdit,
        isSameOrigin: Bool = true,
        inAnyState: Bool = false
    ) throws(Refusal) -> [Effect] {
        guard intent != .remove else { throw .gone }
        let options = inAnyState ? [] : edit.options
        // These two options mean the same before and after a publication.
        let lasting: [TaskEdit.Option] = [.priority, .whenDone]
        // Of a file that may have its name already nobody would compare these any more.
        let compared: [TaskEdit.Option] = [.checksum, .expectedSize]
        let isRefused = { state == .downloading ? !lasting.contains($0) : compared.contains($0) }
        if case .publish = intent, options.contains(where: isRefused) { throw .publishing }
        try check(options)
        let place = try edit.place(of: self)
        let before = self
        let isQueued = edit.url.map { takeLink($0, isSameOrigin: isSameOrigin) } ?? false
        take(edit)
        if let place { move = .to(place, made: nil) }
        guard self != before else { return [] }
        // While its file is moved, a task has no transfer: the end of the move starts the next one.
        let isReplaced =
            state == .downloading && !before.isMoving
            && (place != nil || request.forTransfer != before.request.forTransfer)
        var effects: [Effect] = [.persist]
        if isReplaced {
            effects.append(.stopTransfer(attempt))
            attempt = attempt.next
        }
        if speedLimit != before.speedLimit { effects.append(.limitSpeed(speedLimit)) }
        if request.connections != before.request.connections {
            effects.append(.limitConnections(request.connections))
        }
        effects.append(.announce)
        if place != nil { effects.append(.moveFile) }
        if isReplaced, place == nil { effects.append(.startTransfer(attempt)) }
        if isQueued { effects.append(.fillSlots) }
        return effects
    }

    private mutating func take(_ edit: TaskEdit) {
        // A file that already exists is moved instead.
        if file == nil {
            request.directory = edit.directory ?? request.directory
            request.fileName = edit.fileName ?? request.fileName
        }
        let digest = request.expectedChecksum(of: remote)
        request.take(edit)
        // The finished file was never compared with another digest.
        if integrity == .checksum, request.expectedChecksum(of: remote) != digest {
            integrity = Integrity.none
        }
        // Cookies are forgotten when their task ends. A failed task gets some for its next attempt.
        if state == .cancelled { request.cookies = nil }
        speedLimit = edit.speedLimit ?? speedLimit
        priority = edit.priority ?? priority
    }
}

extension TaskRequest {
    /// Changes all values but the URL and the place.
    package mutating func take(_ edit: TaskEdit) {
        if let mirrors = edit.mirrors { take(mirrors: mirrors) }
        checksum = edit.checksum ?? checksum
        expectedSize = edit.expectedSize ?? expectedSize
        headers = edit.headers ?? headers
        // A value of its own takes the place of the header that came before.
        if edit.headers == nil {
            let taken = [
                edit.cookies == nil ? nil : "cookie", edit.userAgent == nil ? nil : "user-agent",
                edit.referrer == nil ? nil : "referer",
            ]
            headers.removeAll { taken.contains($0.name.lowercased()) }
        }
        referrer = edit.referrer ?? referrer
        userAgent = edit.userAgent ?? userAgent
        cookies = edit.cookies ?? cookies
        connections = edit.connections ?? connections
        whenDone = edit.whenDone ?? whenDone
        onExisting = edit.onExisting ?? onExisting
        retryFor = edit.retryFor ?? retryFor
    }

    /// Replaces the mirrors.
    ///
    /// Known ones keep their logins, which clients cannot read.
    private mutating func take(mirrors: [String]) {
        let known = Dictionary(
            self.mirrors.map { (Self.withoutLogin($0), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        self.mirrors = mirrors.map { known[$0] ?? $0 }
        if mirrors.isEmpty, keptLogins?.isForURL == false { keptLogins = nil }
    }

    /// The request without values that a running transfer does not need, or is told.
    package var forTransfer: TaskRequest {
        var request = self
        request.connections = nil
        request.whenDone = nil
        request.retryFor = 0
        // Logins that the user lends to a task are for its next attempt.
        request.usesStoredLogins = true
        return request
    }
}
