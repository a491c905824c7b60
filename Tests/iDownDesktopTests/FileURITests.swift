// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownDesktop

@Suite struct FileURITests {
    @Test(arguments: [
        ("/", "file:///"), ("/a/b.iso", "file:///a/b.iso"),
        ("/ä b%/\n", "file:///%C3%A4%20b%25/%0A"),
        ("/a#?&;'\"", "file:///a%23%3F%26%3B%27%22"), ("/Az09-._~", "file:///Az09-._~"),
    ])
    func `a file URI is ASCII without spaces`(path: String, text: String) {
        #expect(FileURI.text(of: path) == text)
    }
}
