// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// Metalinks that are downloaded: their files become tasks.
@Suite(.timeLimit(.minutes(1))) struct MetalinkTransferTests {
    private func document(_ url: String, name: String = "a.iso") -> TestContent {
        TestContent(
            Array(
                """
                <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="\(name)">
                <size>\(Sample.content.count)</size><hash type="sha-1">\
                80bc95fd391772fa61c91ed68567f0980bb45fd9</hash>
                <pieces length="700001" type="sha-1">\
                <hash>80bc95fd391772fa61c91ed68567f0980bb45fd9</hash></pieces>
                <url priority="1">\(url)</url><url priority="2">http://mirror.invalid/a</url>
                </file></metalink>
                """.utf8
            )
        )
    }

    @Test(arguments: [("/list.meta4", ""), ("/list", "application/metalink4+xml; charset=utf-8")])
    func `its files are added to its folder`(target: String, type: String) async throws {
        let document = document("http://host.invalid/a.iso", name: "../a.iso")
        try await withServer({ _ in whole(document, [("Content-Type", type)]) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url(target)) {
                    $0.headers = [.init(name: "X-Key", value: "secret")]
                    $0.userAgent = "me/1"
                }
                #expect(journal.record.state == .completed)
                #expect(site.files.allSatisfy { site.holds(document, as: $0) })
                let listed = try #require(journal.listed.first)
                #expect(journal.listed.count == 1)
                #expect(listed.request.url == "http://host.invalid/a.iso")
                #expect(listed.request.mirrors == ["http://mirror.invalid/a"])
                #expect(listed.request.directory == site.folder)
                #expect(listed.request.fileName == "a.iso")
                #expect(listed.request.expectedSize == Sample.content.count)
                #expect(listed.request.checksum?.algorithm == .sha1)
                #expect(listed.request.hasPieceHashes)
                #expect(listed.pieces?.count == 1)
                #expect(listed.request.userAgent == "me/1")
                // What was given to one server goes to no other.
                #expect(listed.request.headers.isEmpty)
                #expect(!listed.request.usesStoredLogins)
            }
        }
    }

    @Test func `its files are added before it gets its name`() async throws {
        let document = document("http://host.invalid/a.iso")
        try await withServer({ _ in whole(document) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/list.meta4"))
                journal.before { event, _ in
                    if case .listed = event { #expect(!site.files.contains("list.meta4")) }
                    return true
                }
                try await site.run(journal)
                #expect(journal.kinds.contains(.listed))
                #expect(journal.kinds.last == .completed)
                #expect(journal.record.listedTasks.count == 1)
            }
        }
    }

    @Test func `files that cannot be added yet are added by the next attempt`() async throws {
        let document = document("http://host.invalid/a.iso")
        try await withServer({ _ in whole(document) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/list.meta4"))
                journal.before { event, _ in
                    if case .listed = event { throw RecordingJournal.NotWritten() }
                    return true
                }
                try await site.run(journal)
                expectFailure(.fileFailed, isTransient: true, site, journal)
                #expect(journal.listed.isEmpty)
                journal.stepBack()
                try await site.run(journal)
                #expect(journal.record.state == .completed)
                #expect(journal.listed.count == 1)
            }
        }
    }

    @Test func `a metalink that is paused before its files are added adds none`() async throws {
        let document = document("http://host.invalid/a.iso")
        try await withServer({ _ in whole(document) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/list.meta4"))
                journal.before { event, journal in
                    if case .listed = event { try journal.apply(.pause) }
                    return true
                }
                try await site.run(journal)
                #expect(journal.record.state == .paused)
                #expect(journal.record.failure == nil)
                #expect(journal.listed.isEmpty)
                #expect(!site.files.contains("list.meta4"))
            }
        }
    }

    @Test(arguments: ["b.meta4", "B.METALINK"])
    func `a metalink in a metalink is not followed, and one of nothing else fails`(
        name: String
    ) async throws {
        let document = document("http://host.invalid/b", name: name)
        try await withServer({ _ in
            whole(document, [("Content-Type", "application/metalink4+xml")])
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/list"))
                expectFailure(.serverBadResponse, isTransient: false, site, journal)
                #expect(journal.record.failure?.message.contains("only other metalinks") == true)
                #expect(journal.listed.isEmpty)
                // Whatever its server calls it, nor is one of those that were listed.
                let listed = try site.task(server.url("/b"), id: 2) { $0.fileName = "b" }
                try await site.run(listed)
                #expect(listed.record.state == .completed)
                #expect(listed.listed.isEmpty)
            }
        }
    }

    @Test func `files that cannot be downloaded are counted, and the others added`() async throws {
        let files = [
            ("a", "http://host.invalid/a"), ("b", "bittorrent://host.invalid/b"),
            ("c.meta4", "http://host.invalid/c.meta4"),
        ]
        let elements = files.map { "<file name=\"\($0)\"><url>\($1)</url></file>" }
        let document = TestContent(
            Array(
                "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\(elements.joined())</metalink>"
                    .utf8
            )
        )
        try await withServer({ _ in whole(document) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/list.meta4"))
                #expect(journal.listed.map(\.request.fileName) == ["a"])
                #expect(journal.leftOut == 2)
            }
        }
    }

    @Test func `what the client gave stays with its server`() async throws {
        try await withServer({ request in
            whole(document("http://\(request["Host"] ?? "")/a.iso"))
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/list.meta4")) {
                    $0.headers = [.init(name: "X-Key", value: "secret")]
                }
                #expect(journal.listed.first?.request.headers.map(\.value) == ["secret"])
                #expect(journal.listed.first?.request.usesStoredLogins == true)
            }
        }
    }

    @Test(arguments: ["<html></html>", "<metalink/>", "<!DOCTYPE metalink><metalink/>"])
    func `what is no metalink fails, and is asked for anew the next time`(text: String)
        async throws
    {
        let content = TestContent(Array(text.utf8))
        try await withServer({ _ in whole(content, [("ETag", "\"v1\"")]) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/list.metalink"))
                expectFailure(.serverBadResponse, isTransient: false, site, journal)
                #expect(journal.listed.isEmpty)
                try await site.run(journal)
                #expect(server.requests.map { $0["Range"] } == [nil, nil])
            }
        }
    }
}
