// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

// FTP has no word for the place that bytes are from: there are servers that say 350 to REST and then
// send the file from its first byte. What they bring is known by what the file begins with.
extension Transfer {
    /// The most that bytes are held against (64 KiB): few files repeat as much of their beginning.
    private static let longestBeginning = OverlapProof.overlap
    /// With less of it on disk nobody joins (16 KiB): a server may begin all its files with the same
    /// few bytes.
    private static let shortestBeginning = OverlapProof.sample

    /// Whether enough has come for those that join to be held against it.
    func canBeToldApart(_ taken: SegmentMap) -> Bool {
        guard sources.urls.contains(where: \.isFTP) else { return true }
        return taken.prefixLength >= Self.shortestBeginning
    }

    /// What the file begins with; nothing where too little of it is on disk.
    func readBeginning() async throws(TransferEnd) -> [UInt8] {
        if let beginning = joining?.beginning, !beginning.isEmpty { return beginning }
        var map = stored
        for writer in connections.compactMap(\.writer) {
            _ = await flush(writer)
            if let written = writer.written { map.insert(written) }
        }
        let length = min(map.prefixLength, Self.longestBeginning)
        guard length >= Self.shortestBeginning, let part else { return [] }
        let beginning = try await onDisk { () throws(FileError) in
            try part.bytes(from: 0, to: length)
        }
        joining?.beginning = beginning
        return beginning
    }

    /// Other bytes come than those that the file begins with: what the connection was asked for is
    /// its own from now on.
    func admit(_ connection: Connection) {
        guard let writer = connection.writer else { return }
        guard takesOver(connection) else { return connection.cut() }
        isOfOneAnswer = false
        writer.release()
    }

    /// The server sends the file's beginning whatever it is asked for: nobody joins any more, and it
    /// is never asked for a range of this file again.
    func closeToLiars(_ connection: Connection) async throws(TransferEnd) {
        engine.hosts.learned(connection.hop.url.origin, useful: UsefulConnections(1))
        guard !dropSource(of: connection) else { return }
        joining?.isClosed = true
        try await note(known.withoutRanges)
    }

    /// Whether bytes on disk are those that the file begins with, so that to compare them would
    /// prove nothing.
    func repeatsBeginning(from start: Int64, to end: Int64) async throws(TransferEnd) -> Bool {
        guard let part else { return false }
        return try await onDisk { () throws(FileError) in
            try part.bytes(from: start, to: end) == part.bytes(from: 0, to: end - start)
        }
    }
}
