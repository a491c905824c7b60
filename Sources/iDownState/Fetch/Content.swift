// SPDX-License-Identifier: Apache-2.0

/// Which version of the file is on disk, and which bytes of it.
///
/// Stored bytes are in the file; synced bytes also survive a crash. The record never claims more
/// than the synced bytes. A connection's bytes count as stored once they are written.
package struct Content: Hashable, Sendable {
    /// The version that the bytes on disk belong to.
    package private(set) var known: RemoteVersion
    package private(set) var stored: SegmentMap
    package private(set) var synced: SegmentMap
    /// The source that gave all bytes on disk, or equal ones; nil where no single source did, and
    /// where that is unknown.
    package private(set) var owner: Int?
    /// Whether the file is a copy of the recorded one of which no byte has been compared yet.
    private(set) var isUnprovenCopy = false
    /// Whether samples were equal in this attempt; a further proof then compares no samples.
    package private(set) var hasEqualSamples = false
    /// Whether one answer brought all bytes on disk, or was compared with all of them.
    package private(set) var isOfOneAnswer = false
    /// The digest that the server of the task's own URL gives; nil where it gives none.
    package private(set) var homeDigest: Checksum?

    /// Begins with the version and the bytes that an earlier attempt has left.
    package init(_ known: RemoteVersion, _ segments: SegmentMap, owner: Int?) {
        self.known = known
        stored = segments
        synced = segments
        self.owner = segments.isEmpty ? nil : owner
        homeDigest = known.checksum
        // A fresh link has to prove itself, also where it has nothing to bring.
        if known.needsProof, isComplete { truncate(to: max(0, size - 1)) }
    }

    /// How many bytes the file has before its first gap: its size once it is complete.
    package var size: Int64 { stored.prefixLength }

    /// Whether every byte is on disk; false while the length is unknown.
    package var isComplete: Bool { known.total.map { stored.covers($0) } ?? false }

    // MARK: The version

    /// Records that the bytes on disk belong to this version.
    package mutating func know(_ version: RemoteVersion) { known = version }

    /// Records that the bytes on disk were compared, and belong to this version.
    package mutating func isProven(as version: RemoteVersion) {
        known = version
        isUnprovenCopy = false
    }

    /// Records that the server answers If-Range as if the file had changed.
    package mutating func dislikesIfRange() { known.dislikesIfRange = true }

    /// Records the digest that the server of the task's own URL gives; nil where it gives none.
    package mutating func noteHomeDigest(_ digest: Checksum?) { homeDigest = digest }

    /// Forgets that samples were equal: one server's samples prove nothing about another server.
    package mutating func forgetSamples() { hasEqualSamples = false }

    package mutating func samplesWereEqual() { hasEqualSamples = true }

    // MARK: What an attempt finds

    /// Records that the file on disk is a copy of the recorded one, proven by samples only.
    package mutating func isCopy() {
        known.restsOnProof = true
        isUnprovenCopy = true
    }

    /// Drops what lies after the end of the partial file, which has `size` bytes: a crash may have
    /// cut it shorter than the record says.
    package mutating func foundPart(size: Int64) {
        synced.truncate(to: size)
        stored = synced
    }

    /// Records that the file is complete: found under its name, or received in one go.
    package mutating func isWhole(size: Int64) {
        synced = SegmentMap(ByteRange(first: 0, length: size).map { [$0] } ?? [])
        stored = synced
    }

    // MARK: An answer

    /// Returns how an answer counts for these bytes: a copy of the recorded file is recorded once it
    /// is compared, whatever its validators say.
    func judged(_ judgement: Judgement) -> Judgement {
        guard isUnprovenCopy, case .compare(let version) = judgement else { return judgement }
        return size > 0 ? .prove(known.proven(as: version), from: 0) : .begin(version)
    }

    /// Starts the file anew with the first byte of an answer.
    ///
    /// - Returns: how many stored bytes are given up.
    @discardableResult
    package mutating func begin(_ version: RemoteVersion, from source: Int) -> Int64 {
        let before = stored.byteCount
        forget()
        known = version
        owner = source
        isOfOneAnswer = true
        return before
    }

    /// Continues the file with an answer; `isCompared` says that the answer also brings all stored
    /// bytes again.
    package mutating func goOn(_ version: RemoteVersion, isCompared: Bool) {
        known = version
        isOfOneAnswer = isCompared
    }

    /// Starts to compare the stored bytes from `start` on with an answer.
    package mutating func beginProof(from start: Int64) { isOfOneAnswer = start == 0 }

    /// Records that a further connection brings a part.
    package mutating func join(from source: Int) {
        isOfOneAnswer = false
        if owner != source { owner = nil }
    }

    /// Adds bytes that a connection has brought.
    ///
    /// - Parameters:
    ///   - range: the bytes.
    ///   - source: the source that they come from.
    ///   - coversAll: the answer was compared with all stored bytes, from the first one on.
    package mutating func store(_ range: ByteRange, from source: Int, coversAll: Bool) {
        var map = stored
        map.insert(range)
        let isMore = map != stored
        if coversAll, isMore || owner == nil {
            owner = source
        } else if isMore, owner != source {
            owner = nil
        }
        stored = map
    }

    /// Records that all bytes on disk come from this source, or equal its bytes.
    package mutating func setOwner(_ source: Int) { owner = source }

    // MARK: The disk

    /// Records what is synced; nil where syncing failed.
    ///
    /// The kernel reports a lost write only once, and then forgets it (fsync(2)): after a failure
    /// only bytes synced earlier are claimed.
    package mutating func sync(_ map: SegmentMap?) {
        if let map { synced = map } else { stored = synced }
    }

    /// Gives up the bytes from `position` on.
    package mutating func truncate(to position: Int64) {
        stored.truncate(to: position)
        synced.truncate(to: position)
    }

    /// Gives up these ranges.
    package mutating func remove(_ bad: [ByteRange]) {
        for range in bad {
            stored.remove(range)
            synced.remove(range)
        }
    }

    /// Gives up all bytes on disk, and keeps what is known of the version.
    package mutating func forget() {
        (hasEqualSamples, isUnprovenCopy) = (false, false)
        stored = SegmentMap()
        synced = SegmentMap()
    }

    /// Gives up all bytes on disk and their version: they belong to another file.
    package mutating func giveUp() {
        isUnprovenCopy = false
        stored = SegmentMap()
        synced = SegmentMap()
        owner = nil
        known = RemoteVersion(checksum: homeDigest)
    }
}
