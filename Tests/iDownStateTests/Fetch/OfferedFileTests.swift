// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// Whether the answer that idown gets is the one that a browser saw.
@Suite struct OfferedFileTests {
    private static let answer = OfferedFile(
        status: 200,
        version: RemoteVersion(
            total: 1_000,
            entityTag: EntityTag(opaque: "\"v1\"", isWeak: false),
            lastModified: LastModified(field: "Sat, 31 Jan 2026 23:59:59 GMT", isStrong: true),
            mimeType: "application/zip"
        ),
        url: "https://a.org/x.zip",
        name: "x.zip"
    )

    @Test(
        arguments: [
            SeenAnswer(),
            SeenAnswer(status: 200, size: 1_000, entityTag: "\"v1\""),
            SeenAnswer(entityTag: " W/\"v1\" "),
            SeenAnswer(lastModified: " Sat, 31 Jan 2026 23:59:59 GMT\t"),
            SeenAnswer(mimeType: "Application/ZIP ; charset=x"),
        ]
    )
    func `what both know is equal`(seen: SeenAnswer) {
        #expect(seen.difference(from: Self.answer) == nil)
    }

    @Test(
        arguments: [
            (SeenAnswer(status: 206), "status"), (SeenAnswer(size: 999), "size"),
            (SeenAnswer(entityTag: "\"v2\""), "ETag"), (SeenAnswer(entityTag: "v1"), "ETag"),
            (SeenAnswer(lastModified: "Sat, 31 Jan 2026 23:59:58 GMT"), "Last-Modified"),
            (SeenAnswer(mimeType: "text/html"), "type"), (SeenAnswer(mimeType: ";"), "type"),
        ] as [(SeenAnswer, String)]
    )
    func `a difference is named`(seen: SeenAnswer, name: String) {
        #expect(seen.difference(from: Self.answer) == name)
    }

    @Test func `what the browser saw and idown does not is a difference`() {
        let bare = OfferedFile(status: 200, version: RemoteVersion(), url: "", name: "")
        #expect(SeenAnswer(size: 0).difference(from: bare) == "size")
        #expect(SeenAnswer(entityTag: "\"v1\"").difference(from: bare) == "ETag")
        #expect(SeenAnswer(lastModified: "x").difference(from: bare) == "Last-Modified")
        #expect(SeenAnswer(mimeType: "image/png").difference(from: bare) == "type")
        #expect(SeenAnswer().difference(from: bare) == nil)
    }

    @Test func `a page in the place of a file of unknown type is a difference`() {
        let page = OfferedFile(
            status: 200,
            version: RemoteVersion(total: 5, mimeType: "text/html"),
            url: "",
            name: ""
        )
        #expect(SeenAnswer(size: 5).difference(from: page) == "type")
        #expect(SeenAnswer(size: 5, mimeType: "text/html").difference(from: page) == nil)
    }
}
