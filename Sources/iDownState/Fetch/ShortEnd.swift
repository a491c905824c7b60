// SPDX-License-Identifier: Apache-2.0

/// The offset at which answers ended too early, or may have.
///
/// An answer counts if it brings the whole file, or by FTP the file's end, breaks off before the
/// announced length if there is one, and has no byte that was not on disk yet.
struct ShortEnd: Hashable, Sendable {
    private var position: Int64 = 0
    private var count: UInt32 = 0
    private var all: UInt32 = 0
    /// After this many ends at the same byte the failure is final: they are no accident, even at a
    /// host that is known and would otherwise be tried for longer.
    static let most = RetryPolicy.tries
    /// After this many ends at any bytes a wrong file is what the host has.
    private static let mostDoubts: UInt32 = 3

    /// Counts an answer that broke off here; returns how many in a row did.
    mutating func count(of position: Int64) -> UInt32 {
        count = position == self.position ? count + 1 : 1
        self.position = position
        all += 1
        return count
    }

    /// Counts an answer that ended here; returns whether a further one may end elsewhere.
    mutating func isNew(_ position: Int64) -> Bool {
        count(of: position) == 1 && all <= Self.mostDoubts
    }

    /// Whether as many answers ended anywhere as would be final at one place.
    var isFrequent: Bool { all >= Self.most }
}
