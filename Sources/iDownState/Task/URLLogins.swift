// SPDX-License-Identifier: Apache-2.0

/// The names and passwords in the URLs of a task, apart from the rest of it.
///
/// Each stands for the scheme, host and port that it was given for, and goes nowhere else.
package struct URLLogins: Hashable, Sendable {
    private struct Login: Hashable, Sendable {
        let origin: String
        /// As it stands before the `@`, percent-encoded.
        let userInfo: String
    }

    /// Of the URL and, behind it, of the mirrors, in their order.
    private var logins: [Login?]

    /// What stands in a request; nil where nothing does.
    ///
    /// - Parameters:
    ///   - request: what a client asked for.
    ///   - kept: what was taken out of it before, and goes on to be its own where nothing else
    ///     stands in its place.
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

    /// What ``text`` has made; nil for what is none.
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

    /// A line a URL, empty for one without: its origin, a blank, user and password.
    package var text: String {
        logins.map { $0.map { "\($0.origin) \($0.userInfo)" } ?? "" }.joined(separator: "\n")
    }

    /// Whether the task's URL has one, and not only its mirrors.
    package var isForURL: Bool { login(0) != nil }

    /// Whether both have the same for the task's URL.
    package func hasSameForURL(as other: URLLogins) -> Bool {
        isForURL && login(0) == other.login(0)
    }

    /// The request with each login in its place again.
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
