// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

extension Transfer {
    /// All that is known of the name that the file is to have.
    func wantedName(_ head: ResponseHead?, _ hop: Hop) -> NameWish {
        NameWish(
            option: job.request.fileName,
            contentDisposition: head?.contentDisposition,
            urlPath: hop.url.path,
            mimeType: head?.facts.mimeType ?? ""
        )
    }

    /// Whether the body of this request may be kept until all of it is there.
    func mayArrive(by route: Connection.Route) -> Bool {
        guard case .lead = route.role, case .whole = route.ask else { return false }
        return target.part == nil && target.file == nil && route.hop.url.isHTTP
    }

    /// Makes a file of a body that is there as a whole.
    ///
    /// - Returns: false where it has to go the way of all others: it is not all there, it is to be
    ///   held against a digest first, or the file system knows no files without a name.
    func arrive(
        _ version: RemoteVersion,
        by connection: Connection
    ) async throws(TransferEnd) -> Bool {
        let body = connection.sink.kept
        guard target.part == nil, target.file == nil, !body.isEmpty,
            version.total == Int64(body.count)
        else { return false }
        try verifier.check(size: version.total)
        fetch.content.forget()
        fetch.content.know(version)
        guard !fetch.hasDigest else { return false }
        let wish = wantedName(connection.sink.head, connection.hop)
        guard case .made = try await target.fill(with: body, as: wish) else { return false }
        fetch.content.isWhole(size: Int64(body.count))
        return true
    }

    /// Gives the complete file its name: synced, intended, renamed, synced again, recorded.
    func publish() async throws(TransferEnd) {
        guard !brake.isPulled else { throw .stopped }
        guard let file = target.file else { throw .failed(FileError.vanished.failure) }
        live.activity = .verifying
        let size = content.size
        let integrity = job.request.provenIntegrity(of: content.known)
        if target.isPublished {
            return try await ledger.commit(.completed(name: file.name, size: size, integrity))
        }
        if let total = content.known.total, total != size {
            throw .failed(
                Failure(
                    .serverTruncated,
                    "Only \(size) of \(total) bytes arrived. A later try may succeed.",
                    isTransient: true
                )
            )
        }
        try await addListedFiles()
        let hasArrived = target.isUnnamed
        if !hasArrived {
            try await synchronize { part throws(TransferEnd) in
                try await target.complete(part, size: size)
            }
        }
        do throws(TransferEnd) {
            let (name, newFolder) = try await target.publish(content.known)
            try await ledger.commit(
                .completed(name: name, size: size, integrity, movedTo: newFolder)
            )
        } catch {
            // Without a name it is gone.
            if hasArrived, target.part == nil { fetch.content.forget() }
            throw error
        }
    }
}
