// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownloader

@Suite struct NameWishSuggestionTests {
    private func name(_ path: String, _ type: String = "", _ disposition: String? = nil) -> String {
        let field = disposition.map { Array($0.utf8) }
        return NameWish(contentDisposition: field, urlPath: path, mimeType: type).suggested().text
    }

    @Test func `the server's name comes before the URL's`() {
        #expect(name("/a.zip", "", "attachment; filename=b.zip") == "b.zip")
        #expect(name("/a.zip", "application/zip", "attachment; filename=b") == "b")
    }

    @Test(arguments: ["attachment", "filename=\"..\"", "filename=", "filename*=UTF-8''%2e"])
    func `a field without a name leaves it to the URL`(field: String) {
        #expect(name("/a.zip", "", field) == "a.zip")
    }

    @Test(arguments: [
        ("/a/b/c.zip", "c.zip"),
        ("/a%20b.zip", "a b.zip"),
        ("/a%2520b.zip", "a%20b.zip"),
        ("/%C3%A9.zip", "é.zip"),
        ("/%E9.zip", "é.zip"),
        ("/a%2Fb.zip", "a_b.zip"),
        ("/..%2F..%2Fetc%2Fpasswd", "_.._etc_passwd"),
        ("/..%5C..%5Cevil.exe", "_.._evil.exe"),
        ("/100%", "100%"),
        ("/", "download"),
        ("", "download"),
        ("/a/", "download"),
        ("/%2e%2e", "download"),
        ("/%00", "_"),
    ])
    func `the last element of the path is decoded once`(path: String, expected: String) {
        #expect(name(path) == expected)
    }

    @Test(arguments: [
        ("/", "text/html", "download.html"),
        ("/file", "application/pdf", "file.pdf"),
        ("/release-1.2", "application/zip", "release-1.2.zip"),
        ("/file", "application/octet-stream", "file"),
        ("/get.php", "application/zip", "get.php"),
        ("/file", "unknown/type", "file"),
    ])
    func `a name without extension gets one by its type`(
        path: String,
        type: String,
        expected: String
    ) {
        #expect(name(path, type) == expected)
    }

    @Test func `an extension fits into a long name`() {
        let long = name("/" + String(repeating: "a", count: 300), "application/zip")
        #expect(long == String(repeating: "a", count: 240) + ".zip")
    }
}
