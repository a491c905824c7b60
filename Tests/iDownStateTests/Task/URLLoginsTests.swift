// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct URLLoginsTests {
    private func request(_ url: String, _ mirrors: [String] = []) -> TaskRequest {
        TaskRequest(url: url, directory: "/d", mirrors: mirrors)
    }

    private func taken(_ request: TaskRequest) throws -> (TaskRequest, URLLogins) {
        let logins = try #require(URLLogins(of: request))
        let key = LoginKey(id: "k", isForURL: logins.isForURL)
        return (request.withoutLogins(keptAt: key), logins)
    }

    @Test(arguments: [
        ("https://me:a%20b@e.org/x?q=1", "https://e.org/x?q=1"),
        ("https://token@e.org:8443/", "https://e.org:8443/"),
        ("http://me:@[::1]:80/x@y", "http://[::1]:80/x@y"),
        ("sftp://me:pw@e.org/x", "sftp://e.org/x"),
    ])
    func `a login is taken out and put back`(url: String, bare: String) throws {
        let whole = request(url, ["http://e.org/m", "ftp://a:b@m.org/m"])
        #expect(whole.hasLogins)
        let (rest, logins) = try taken(whole)
        #expect(rest.url == bare)
        #expect(rest.mirrors == ["http://e.org/m", "ftp://m.org/m"])
        #expect(!rest.hasLogins)
        let read = try #require(URLLogins(text: logins.text))
        #expect(read == logins)
        var restored = read.restored(to: rest)
        restored.keptLogins = nil
        #expect(restored == whole)
    }

    @Test func `a name alone is no secret where keys sign in`() {
        let plain = request("sftp://me@e.org/x", ["sftp://you@e.org/y"])
        #expect(!plain.hasLogins)
        #expect(URLLogins(of: plain) == nil)
    }

    @Test(arguments: ["https://e.org/a@b", "https://e.org/?u=me:pw@x", "no URL @"])
    func `what stands behind the host is none`(url: String) {
        #expect(!request(url).hasLogins)
    }

    @Test func `a login goes to its own origin alone`() throws {
        var (rest, logins) = try taken(request("https://me:pw@e.org/x"))
        for other in ["http://e.org/x", "https://e.org:8443/x", "https://f.org/x"] {
            rest.url = other
            #expect(logins.restored(to: rest).url == other)
        }
        rest.url = "https://you:2@e.org/x"
        #expect(logins.restored(to: rest).url == rest.url)
    }

    @Test func `a fresh link keeps the logins of the mirrors`() throws {
        var (rest, old) = try taken(request("https://me:1@e.org/x", ["ftp://a:b@m.org/m"]))
        rest.url = "https://me:2@e.org/y"
        let logins = try #require(URLLogins(of: rest, over: old))
        let key = LoginKey(id: "l", isForURL: true)
        let moved = rest.withoutLogins(keptAt: key)
        #expect(logins.restored(to: moved).url == rest.url)
        #expect(logins.restored(to: moved).mirrors == ["ftp://a:b@m.org/m"])
        #expect(!logins.hasSameForURL(as: old))
    }

    @Test func `logins of mirrors alone leave the URL alone`() throws {
        let (rest, logins) = try taken(request("https://e.org/x", ["ftp://a:b@m.org/m"]))
        #expect(!logins.isForURL)
        #expect(rest.keptLogins?.rawValue == "mirrors:k")
        #expect(logins.restored(to: rest).url == "https://e.org/x")
    }

    @Test(arguments: ["a", "a b c", "a b\nc"])
    func `what is no list of logins is none`(text: String) {
        #expect(URLLogins(text: text) == nil)
    }

    @Test(arguments: ["", "url", "url:", "other:1", ":1"])
    func `what is no key is none`(text: String) {
        #expect(LoginKey(rawValue: text) == nil)
    }

    @Test func `keys are read as they are written`() throws {
        for isForURL in [true, false] {
            let key = LoginKey(id: "a:b", isForURL: isForURL)
            #expect(LoginKey(rawValue: key.rawValue) == key)
        }
    }

    @Test func `a fresh link at another origin gives the login up`() throws {
        let request = request("https://me:pw@e.org/x")
        var record = TaskRecord(
            id: try #require(TaskID(rawValue: 1)),
            request: try taken(request).0,
            createdAt: WallTime(microseconds: 0)
        )
        record.state = .paused
        _ = try record.setURL("https://e.org/y", isSameOrigin: true)
        #expect(record.request.keptLogins?.isForURL == true)
        _ = try record.setURL("https://f.org/y", isSameOrigin: false)
        #expect(record.request.keptLogins?.isForURL == false)
    }
}
