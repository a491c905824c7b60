// SPDX-License-Identifier: Apache-2.0

/// What to do with an answer whose head is read and whose body has not been touched.
package enum Judgement: Hashable, Sendable {
    /// The body is the file from its first byte; whatever is on disk belongs to another version,
    /// or to nobody knows which.
    case begin(RemoteVersion)
    /// The body goes on where the file on disk ends.
    case resume(RemoteVersion)
    /// The body is the file from its first byte, in the version that is on disk: it is compared
    /// with that, and the first byte that differs cuts the map.
    case compare(RemoteVersion)
    /// All bytes are on disk already.
    case complete(RemoteVersion)
    /// Close this answer and ask differently, knowing this.
    case askAgain(Ask, RemoteVersion)
    case redirect(to: String)
    case fail(Failure)
}

extension ResponseFacts {
    /// Judges the answer to `ask` by the ladder's rules.
    ///
    /// - Parameters:
    ///   - ask: what the request asked for.
    ///   - known: the version that the bytes on disk belong to.
    ///   - onDisk: the bytes on disk.
    ///   - keepsEncoding: the file is itself a compressed one, so that a Content-Encoding is its
    ///     own and the bytes are stored as they come.
    /// - Returns: what to do with the body.
    package func judge(
        asked ask: Ask,
        known: RemoteVersion,
        onDisk: SegmentMap,
        keepsEncoding: Bool = false
    ) -> Judgement {
        // An encoded part is no part of what is on disk, whatever the coding is.
        if let contentEncoding, status != 206, keepsEncoding || !Self.isDecodable(contentEncoding) {
            var plain = self
            plain.contentEncoding = nil
            plain.acceptsRanges = false
            plain.refusesRanges = true
            return plain.judge(asked: ask, known: known, onDisk: onDisk)
        }
        if isUnreadable { return .fail(.badResponse("is not HTTP/1.0 or newer")) }
        if contentLength == .invalid { return .fail(.badResponse("has a length that is none")) }
        switch status {
        case 200, 203:
            return judgeWhole(ask, known, onDisk)
        case 206:
            return judgePartial(ask, known, onDisk)
        case 301, 302, 303, 307, 308:
            guard let location, !location.isEmpty else {
                return .fail(.badResponse("is a redirect without Location"))
            }
            return .redirect(to: location)
        case 416:
            return judgeUnsatisfied(ask, known, onDisk)
        case 100..<400:
            return .fail(.badResponse("is HTTP \(status), which brings no file"))
        default:
            return .fail(.status(status, retryAfter: retryAfter))
        }
    }

    /// The codings of RFC 9110 section 8.4.1 and RFC 8878 that can be taken off again; what
    /// servers write else (`none`, `binary`, `utf-8`) leaves the bytes as they are.
    private static func isDecodable(_ encoding: String) -> Bool {
        let known: Set<Substring> = ["gzip", "x-gzip", "deflate", "br", "zstd"]
        return encoding.split(whereSeparator: { $0 == "," || $0 == " " })
            .allSatisfy { known.contains($0) || $0 == "identity" }
    }

    // MARK: 200

    private func judgeWhole(_ ask: Ask, _ known: RemoteVersion, _ onDisk: SegmentMap) -> Judgement {
        let version = version(total: contentLength.bytes, known)
        if contentEncoding != nil, ask != .decoded { return .askAgain(.decoded, known) }
        guard ask.isPartial else { return judgeProbe(ask, version, known, onDisk) }
        guard known.isSame(as: version), version.total == nil || known.total == version.total else {
            return .begin(version)
        }
        if ask.ifRange != nil, version.total != nil {
            var shy = known
            shy.dislikesIfRange = true
            return .askAgain(ask.unconditional, shy)
        }
        return .compare(known.withoutRanges)
    }

    /// The answer to a plain GET: nothing on disk, or nothing that could be asked for by range.
    private func judgeProbe(
        _ ask: Ask,
        _ version: RemoteVersion,
        _ known: RemoteVersion,
        _ onDisk: SegmentMap
    ) -> Judgement {
        guard ask == .whole || contentEncoding == nil else {
            // The length counts the encoded bytes, and no range of them fits the decoded file.
            var decoded = version.withoutRanges
            decoded.total = nil
            decoded.checksum = nil
            return .begin(decoded)
        }
        guard !onDisk.isEmpty, known.isSame(as: version), known.total == version.total else {
            return .begin(version)
        }
        return .compare(version)
    }

    // MARK: 206

    private func judgePartial(
        _ ask: Ask,
        _ known: RemoteVersion,
        _ onDisk: SegmentMap
    ) -> Judgement {
        if mimeType == "multipart/byteranges" {
            return refuseRange(ask, "is a 206 in several parts", known)
        }
        guard case .satisfied(let range, let total) = contentRange else {
            return refuseRange(ask, "is a 206 without a Content-Range that can be read", known)
        }
        if contentEncoding != nil {
            return refuseRange(ask, "is a 206 with an encoded body", known)
        }
        guard range.first == ask.offset, range.end <= total ?? known.total ?? .max,
            range.length == contentLength.bytes ?? range.length
        else {
            return refuseRange(ask, "is a 206 for another range", known)
        }
        guard ask.isPartial else {
            // Nobody asked for a part; all of it is as good as a 200.
            guard let total, range.length == total else {
                return .fail(.badResponse("is a 206 to a request without Range"))
            }
            return judgeProbe(ask, version(total: total, known), known, onDisk)
        }
        guard total == nil || total == known.total else { return .askAgain(.whole, known) }
        guard known.isSame(as: version(total: total, known)) else {
            return .askAgain(.whole, known)
        }
        var version = known
        version.checksum = known.checksum ?? checksum
        version.servesRanges = true
        version.refusesRanges = false
        return .resume(version)
    }

    /// A server that gets ranges wrong is asked for the file as a whole, and never for a range
    /// again.
    private func refuseRange(_ ask: Ask, _ what: String, _ known: RemoteVersion) -> Judgement {
        guard ask.isPartial else { return .fail(.badResponse(what)) }
        return .askAgain(.whole, known.withoutRanges)
    }

    // MARK: 416

    private func judgeUnsatisfied(
        _ ask: Ask,
        _ known: RemoteVersion,
        _ onDisk: SegmentMap
    ) -> Judgement {
        guard ask.isPartial else { return .fail(.status(416)) }
        if case .unsatisfied(let total) = contentRange, total == ask.offset, onDisk.covers(total),
            known.total == nil || known.total == total,
            known.isSame(as: version(total: total, known))
        {
            var version = known
            version.total = total
            return .complete(version)
        }
        return .askAgain(.whole, known)
    }

    // MARK: Versions

    private func version(total: Int64?, _ known: RemoteVersion) -> RemoteVersion {
        let refusesRanges = refusesRanges || known.refusesRanges
        return RemoteVersion(
            total: total,
            entityTag: entityTag,
            lastModified: lastModified,
            checksum: checksum,
            mimeType: mimeType,
            servesRanges: !refusesRanges && (acceptsRanges || status == 206),
            refusesRanges: refusesRanges,
            dislikesIfRange: known.dislikesIfRange
        )
    }
}

extension ContentLength {
    /// The length where there is one.
    package var bytes: Int64? {
        if case .bytes(let count) = self { return count }
        return nil
    }
}

extension Failure {
    /// An answer that cannot be a file.
    package static func badResponse(_ what: String) -> Failure {
        Failure(.serverBadResponse, "the server's answer \(what)")
    }
}
