// SPDX-License-Identifier: Apache-2.0

package import Curl
package import iDownState

/// A file that a metalink lists, as a task that can be added.
package struct ListedFile: Hashable, Sendable {
    package var request: TaskRequest
    package var pieces: PieceHashes?

    /// - Parameters:
    ///   - file: what the metalink says about the file.
    ///   - metalink: the task that fetched the metalink. Its folder is used; the headers, referrer,
    ///     cookies and logins of its client are used only for files of the same scheme, host and
    ///     port.
    ///   - home: the URL of that task.
    ///   - reach: the reach of the furthest host that served the metalink, redirected to it or
    ///     listed it; nil if there was none.
    package init(
        _ file: Metalink.File,
        of metalink: TaskRequest,
        at home: URLReference,
        reach: SocketAddress.Reach? = nil
    ) {
        self.init(file, into: metalink.directory)
        let isAtHome = (try? URLReference(request.url))?.origin == home.origin
        if isAtHome {
            request.headers = metalink.headers
            request.referrer = metalink.referrer
            request.cookies = metalink.cookies
        }
        request.usesStoredLogins = isAtHome && metalink.usesStoredLogins
        request.userAgent = metalink.userAgent
        request.isPrivate = metalink.isPrivate
        request.connections = metalink.connections
        request.retryFor = metalink.retryFor
        request.metalinkReach = reach?.rawValue
        request.owner = metalink.owner
        request.addedBy = metalink.addedBy
    }

    /// Makes a task from a metalink file on this computer.
    ///
    /// The user's stored logins are not used, because the metalink may have come from anywhere.
    package init(_ file: Metalink.File, into directory: String) {
        request = TaskRequest(url: file.urls.first ?? "", directory: directory)
        // The name in the metalink; if it gives no usable one, the name in the URL.
        request.fileName = file.name ?? request.suggestedName
        request.mirrors = Array(file.urls.dropFirst())
        request.checksum = file.checksum
        request.expectedSize = file.size
        request.hasPieceHashes = file.pieces != nil
        request.usesStoredLogins = false
        pieces = file.pieces
    }
}
