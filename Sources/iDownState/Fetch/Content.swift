// SPDX-License-Identifier: Apache-2.0

/// Which version of the file is on disk, and which bytes of it.
///
/// Stored bytes are in the file, synced ones outlive a crash; the record never claims more than
/// those. The bytes of open connections count once they are settled.
package struct Content: Hashable, Sendable {
    /// The version that the bytes on disk belong to.
    package private(set) var known: RemoteVersion
    package private(set) var stored: SegmentMap
    package private(set) var synced: SegmentMap
    /// The source that all bytes on disk are from, or are equal to; nil where nobody knows.
    package private(set) var owner: Int?
    /// The samples of a proof were equal in this attempt: another proof does without.
    package private(set) var hasEqualSamples = false
    /// Whether all that is on disk has come in one answer, or was compared with one.
    package private(set) var isOfOneAnswer = false
    /// What the server of the client's URL says that the file comes to.
    package private(set) var homeDigest: Checksum?

    /// What an earlier attempt has left.
    package init(_ known: RemoteVersion, _ segments: SegmentMap, owner: Int?) {
        self.known = known
        stored = segments
        synced = segments
        self.owner = segments.isEmpty ? nil : owner
        homeDigest = known.checksum
    }

    /// How far the file goes without a gap: the size of a complete one.
    package var size: Int64 { stored.prefixLength }

    /// Whether every byte is there, as far as the length is known.
    package var isComplete: Bool { known.total.map { stored.covers($0) } ?? false }

    // MARK: The version

    /// The version that the bytes on disk belong to turned out to be this.
    package mutating func know(_ version: RemoteVersion) { known = version }

    /// A server takes a range on a condition for a wish for another version.
    package mutating func dislikesIfRange() { known.dislikesIfRange = true }

    /// The server of the client's URL says what the file comes to; nil where it does not.
    package mutating func noteHomeDigest(_ digest: Checksum?) { homeDigest = digest }

    /// What one server's samples have shown says nothing of another's.
    package mutating func forgetSamples() { hasEqualSamples = false }

    package mutating func samplesWereEqual() { hasEqualSamples = true }

    // MARK: What an attempt finds

    /// What is on disk is a copy of the recorded file, of which samples alone are proven.
    package mutating func isCopy() { known.restsOnProof = true }

    /// The partial file has so many bytes: a crash may have cut it shorter than what was recorded.
    package mutating func foundPart(size: Int64) {
        synced.truncate(to: size)
        stored = synced
    }

    /// The complete file was found under its name, or a small one has come at once.
    package mutating func isWhole(size: Int64) {
        synced = SegmentMap(ByteRange(first: 0, length: size).map { [$0] } ?? [])
        stored = synced
    }

    // MARK: An answer

    /// The file begins anew, with the first byte of an answer.
    ///
    /// - Returns: how many bytes were given up for it.
    @discardableResult
    package mutating func begin(_ version: RemoteVersion, from source: Int) -> Int64 {
        let before = stored.byteCount
        forget()
        known = version
        owner = source
        isOfOneAnswer = true
        return before
    }

    /// An answer goes on in the file; `isCompared` where it brings all that is there once more.
    package mutating func goOn(_ version: RemoteVersion, isCompared: Bool) {
        known = version
        isOfOneAnswer = isCompared
    }

    /// An answer is compared with what is there from `start` on.
    package mutating func beginProof(from start: Int64) { isOfOneAnswer = start == 0 }

    /// Another connection brings a part.
    package mutating func join(from source: Int) {
        isOfOneAnswer = false
        if owner != source { owner = nil }
    }

    /// A connection has brought these bytes.
    ///
    /// - Parameters:
    ///   - range: the bytes.
    ///   - source: where they are from.
    ///   - coversAll: its answer was held against all that was there from the first byte on.
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

    /// All bytes on disk are from this source, or equal to its.
    package mutating func own(by source: Int) { owner = source }

    // MARK: The disk

    /// What is in `map` is synced; nil where that failed: the kernel reports a write that it lost
    /// once, and then forgets it (fsync(2)), so nothing that was not synced before is ever claimed.
    package mutating func sync(_ map: SegmentMap?) {
        if let map { synced = map } else { stored = synced }
    }

    /// What lies behind `position` is given up.
    package mutating func truncate(to position: Int64) {
        stored.truncate(to: position)
        synced.truncate(to: position)
    }

    /// These stretches are given up.
    package mutating func remove(_ bad: [ByteRange]) {
        for range in bad {
            stored.remove(range)
            synced.remove(range)
        }
    }

    /// Nothing of what is on disk is worth anything; what is known of the version stays.
    package mutating func forget() {
        hasEqualSamples = false
        stored = SegmentMap()
        synced = SegmentMap()
    }

    /// The bytes on disk are those of another file.
    package mutating func giveUp() {
        stored = SegmentMap()
        synced = SegmentMap()
        owner = nil
        known = RemoteVersion(checksum: homeDigest)
    }
}
