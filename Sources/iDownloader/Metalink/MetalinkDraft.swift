// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// Collects the elements of one file of a metalink.
struct MetalinkDraft {
    /// The piece hashes of a `pieces` element that has not ended.
    private struct OpenPieces {
        /// The hash algorithm; nil if unknown, and then the hashes are ignored.
        let algorithm: Checksum.Algorithm?
        let length: Int64
        var digests: [UInt8] = []
    }

    /// The name as in the document.
    let name: String?
    /// What is known of the file; its name and its URLs are filled in at the end.
    private var file = Metalink.File(urls: [])
    private var openPieces: OpenPieces?
    /// Priority 1 is the best, 999,999 the default (RFC 5854 section 4.2.16.2).
    private var sources: [(url: String, priority: Int)] = []
    /// The URLs in `sources`, to skip duplicates.
    private var known: Set<String> = []
    private var urlCount = 0

    init(name: String? = nil) { self.name = name }

    // MARK: Elements

    mutating func take(size text: String) throws(MetalinkFault) {
        guard let size = text.utf8.decimal else {
            throw MetalinkFault("has a size that is not a number")
        }
        file.size = size
    }

    mutating func take(
        hash text: String,
        _ attributes: [String: String]
    ) throws(MetalinkFault) {
        guard let algorithm = Self.algorithm(attributes["type"]) else { return }
        guard let found = Checksum(algorithm, hexadecimal: text) else { throw Self.badHash }
        guard let known = file.checksum else {
            file.checksum = found
            return
        }
        guard algorithm != known.algorithm || found == known else {
            throw MetalinkFault("has two different hashes for one file")
        }
        if algorithm > known.algorithm { file.checksum = found }
    }

    mutating func beginPieces(_ attributes: [String: String]) throws(MetalinkFault) {
        guard let length = attributes["length"]?.utf8.decimal, length > 0 else {
            throw MetalinkFault("has pieces without a length")
        }
        openPieces = OpenPieces(algorithm: Self.algorithm(attributes["type"]), length: length)
    }

    mutating func take(
        pieceHash text: String,
        _ attributes: [String: String]
    ) throws(MetalinkFault) {
        guard var open = openPieces, let algorithm = open.algorithm else { return }
        // Version 3 numbers the pieces; a gap would shift all later ones.
        let count = open.digests.count / algorithm.byteCount
        if let number = attributes["piece"], number != "\(count)" {
            throw MetalinkFault("has pieces that are not in order")
        }
        guard let digest = Checksum(algorithm, hexadecimal: text) else { throw Self.badHash }
        open.digests += digest.bytes
        openPieces = open
    }

    mutating func endPieces() throws(MetalinkFault) {
        defer { openPieces = nil }
        guard let open = openPieces, let algorithm = open.algorithm else { return }
        guard let found = PieceHashes(algorithm, length: open.length, digests: open.digests) else {
            throw Self.badHash
        }
        if let pieces = file.pieces, pieces.algorithm >= algorithm { return }
        file.pieces = found
    }

    mutating func take(
        url text: String,
        _ attributes: [String: String],
        _ schemes: Set<String>
    ) throws(MetalinkFault) {
        urlCount += 1
        guard urlCount <= Metalink.mostURLs else {
            throw MetalinkFault("has more than \(Metalink.mostURLs) URLs for one file")
        }
        // Version 3 lists torrents as URLs with a type of their own.
        if let type = attributes["type"], !schemes.contains(type.lowercased()) { return }
        guard let url = try? URLReference(text), schemes.contains(url.scheme) else { return }
        guard known.insert(url.text).inserted else { return }
        sources.append((url.text, Self.priority(attributes)))
    }

    // MARK: The finished file

    /// Returns the file; nil if it has no URL that idown can download.
    func finish() throws(MetalinkFault) -> Metalink.File? {
        if let size = file.size, let pieces = file.pieces, !pieces.cover(size) {
            throw MetalinkFault("has pieces that do not add up to their file")
        }
        guard !sources.isEmpty else { return nil }
        // The sort is stable, so the document's order decides among equal priorities.
        var space = Metalink.mostKeptBytes
        let best = sources.sorted { $0.priority < $1.priority }.prefix(Metalink.mostKeptURLs)
            .prefix { source in
                space -= source.url.utf8.count
                return space >= 0
            }
        var file = file
        // The last element alone, made safe.
        file.name = name?.lastPathElement.flatMap { FileName(sanitizing: $0)?.text }
        file.urls = best.map { $0.url }
        return file
    }

    private static let badHash = MetalinkFault(
        "has a hash that is not hexadecimal or has the wrong length"
    )

    /// Returns the algorithm of a name: `sha-256` by IANA (RFC 5854 section 4.2.3), or `sha256` in
    /// version 3.
    private static func algorithm(_ name: String?) -> Checksum.Algorithm? {
        let plain = name?.lowercased().filter { $0 != "-" }
        return Checksum.Algorithm.allCases.first { $0.rawValue.filter { $0 != "-" } == plain }
    }

    /// Returns a URL's priority, where 1 is best; version 3 has a preference from 0 to 100 (best)
    /// instead.
    private static func priority(_ attributes: [String: String]) -> Int {
        let lowest = 999_999
        if let text = attributes["priority"] { return min(max(Int(text) ?? lowest, 1), lowest) }
        guard let preference = attributes["preference"].flatMap({ Int($0) }) else { return lowest }
        return 101 - min(max(preference, 0), 100)
    }
}
