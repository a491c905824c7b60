// SPDX-License-Identifier: Apache-2.0

/// The user names and passwords from the URLs of a task, kept apart from the task.
///
/// Each login is used only for the scheme, host and port of its URL.
package struct URLLogins: Hashable, Sendable {
    private struct Login: Hashable, Sendable {
        let origin: String
        /// The text before the `@`, percent-encoded.
        let userInfo: String
    }

    /// The login of the task's URL, then those of its mirrors, in order; nil for a URL without one.
    private var logins: [Login?]

    /// Takes the logins from a request; returns nil where it has none.
    ///
    /// - Parameters:
    ///   - request: what a client asked for.
    ///   - kept: the logins that were taken from it earlier; each is kept where the request has no
    ///     other login at its place.
    package init?(of request: TaskRequest, over kept: URLLogins? = nil) {
        guard request.hasLogins else { return nil }
        let key = request.keptLogins
        let urls = [request.url] + request.mirrors
        logins = urls.enumerated().map { index, url in
            if let login = Self.login(in: url) { return login }
            guard let old = kept?.login(index), key?.isForURL == true || index > 0 else {
                return nil
            }
            return Origin(url: url)?.text == old.origin ? old : nil
        }
    }

    /// Reads what ``text`` has written; returns nil for other text.
    package init?(text: String) {
        logins = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard !line.isEmpty else {
                logins.append(nil)
                continue
            }
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            logins.append(Login(origin: String(parts[0]), userInfo: String(parts[1])))
        }
    }

    /// One line for each URL: its origin, a blank, user and password; empty for a URL without a
    /// login.
    package var text: String {
        logins.map { $0.map { "\($0.origin) \($0.userInfo)" } ?? "" }.joined(separator: "\n")
    }

    /// Whether the task's URL has a login, and not only its mirrors.
    package var isForURL: Bool { login(0) != nil }

    /// Whether both have the same login for the task's URL.
    package func hasSameForURL(as other: URLLogins) -> Bool {
        isForURL && login(0) == other.login(0)
    }

    /// Returns the request with each login back in its URL.
    package func restored(to request: TaskRequest) -> TaskRequest {
        var request = request
        if request.keptLogins?.isForURL == true { request.url = restored(to: request.url, 0) }
        for index in request.mirrors.indices {
            request.mirrors[index] = restored(to: request.mirrors[index], index + 1)
        }
        return request
    }

    private func restored(to url: String, _ index: Int) -> String {
        guard let login = login(index), Origin(url: url)?.text == login.origin else { return url }
        return URLParts.adding(login.userInfo, to: url)
    }

    private func login(_ index: Int) -> Login? {
        logins.indices.contains(index) ? logins[index] : nil
    }

    private static func login(in url: String) -> Login? {
        guard TaskRequest.hasLogin(url), let origin = Origin(url: url),
            let userInfo = URLParts(url)?.login
        else { return nil }
        return Login(origin: origin.text, userInfo: String(userInfo))
    }
}
