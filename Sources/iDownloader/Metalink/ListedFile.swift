// SPDX-License-Identifier: Apache-2.0

package import Curl
package import iDownState

/// A file of a metalink as a task that can be added.
package struct ListedFile: Hashable, Sendable {
    package var request: TaskRequest
    package var pieces: PieceHashes?

    /// - Parameters:
    ///   - file: what the metalink says.
    ///   - metalink: the task that fetched it: its folder is used, and what its client gave goes
    ///     only to files of the same scheme, host and port.
    ///   - home: that task's URL.
    ///   - reach: how far the furthest host is that had a say in the metalink; nil where none had.
    package init(
        _ file: Metalink.File,
        of metalink: TaskRequest,
        at home: URLReference,
        reach: SocketAddress.Reach? = nil
    ) {
        let url = file.urls.first ?? ""
        let isAtHome = (try? URLReference(url))?.origin == home.origin
        request = TaskRequest(
            url: url,
            directory: metalink.directory,
            fileName: file.knownName,
            headers: isAtHome ? metalink.headers : [],
            referrer: isAtHome ? metalink.referrer : nil,
            userAgent: metalink.userAgent,
            cookies: isAtHome ? metalink.cookies : nil,
            isPrivate: metalink.isPrivate,
            connections: metalink.connections,
            mirrors: Array(file.urls.dropFirst()),
            checksum: file.checksum,
            expectedSize: file.size,
            retryFor: metalink.retryFor,
            hasPieceHashes: file.pieces != nil,
            usesStoredLogins: isAtHome && metalink.usesStoredLogins,
            metalinkReach: reach?.rawValue,
            owner: metalink.owner,
            addedBy: metalink.addedBy
        )
        pieces = file.pieces
    }

    /// A file of a metalink that lies on this machine, wherever it came from: nothing that the user
    /// has stored is used for it.
    package init(_ file: Metalink.File, into directory: String) {
        request = TaskRequest(
            url: file.urls.first ?? "",
            directory: directory,
            fileName: file.knownName,
            mirrors: Array(file.urls.dropFirst()),
            checksum: file.checksum,
            expectedSize: file.size,
            hasPieceHashes: file.pieces != nil,
            usesStoredLogins: false
        )
        pieces = file.pieces
    }
}

extension Metalink.File {
    /// Its name; the URL's where the document gives none that can be used.
    fileprivate var knownName: String {
        if let name { return name }
        let path = urls.first.flatMap { try? URLReference($0) }?.path ?? ""
        return FileName.suggested(contentDisposition: nil, urlPath: path, mimeType: "").text
    }
}
