// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing

struct URLReferenceTextTests {
    @Test(arguments: [
        ("http://host", "http"), (" HTTPS:x", "https"), ("javascript:alert(1)", "javascript"),
        ("file:///etc/passwd", "file"), ("a+b-c.1:", "a+b-c.1"), ("idown:?url=x", "idown"),
    ])
    func `the scheme of any text is told`(text: String, scheme: String) {
        #expect(URLReference.scheme(of: text) == scheme)
    }

    @Test(arguments: ["", ":", "://host", "1a:", "a/b:", "host", "ä:", "a b:", "?a:", "a\u{0}:"])
    func `a text without a scheme has none`(text: String) {
        #expect(URLReference.scheme(of: text) == nil)
    }
}
