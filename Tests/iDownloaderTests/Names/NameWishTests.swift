// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownloader

@Suite struct NameWishTests {
    private func wish(option: String? = nil, path: String) -> NameWish {
        NameWish(option: option, contentDisposition: nil, urlPath: path, mimeType: "")
    }

    @Test func `the client's name stands alone`() {
        let long = String(repeating: "c", count: 200) + ".zip"
        #expect(wish(option: long, path: "/a.zip").names(limit: 255).map(\.text) == [long])
    }

    @Test func `a short name needs no shorter one`() {
        #expect(wish(path: "/a.zip").names(limit: 255).map(\.text) == ["a.zip"])
    }

    @Test(arguments: [54, 100, 300])
    func `behind a long name stand those for less room`(length: Int) {
        let path = "/" + String(repeating: "n", count: length - 4) + ".zip"
        let sizes = wish(path: path).names(limit: 255).map(\.text.utf8.count)
        #expect(sizes == [min(length, 244), min(length, 132), 53])
    }

    @Test func `a name that fits into the least room is alone`() {
        let path = "/" + String(repeating: "n", count: 49) + ".zip"
        #expect(wish(path: path).names(limit: 255).map(\.text.utf8.count) == [53])
    }
}
