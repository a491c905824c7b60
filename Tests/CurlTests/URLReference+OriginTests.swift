// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing

struct URLReferenceOriginTests {
    @Test(arguments: [
        ("http://host/a", "http://HOST/b?c"), ("http://host/", "http://host:80/"),
        ("https://u:p@host/", "https://host:443/"), ("http://host./", "http://host/"),
        ("http://127.0.0.1/", "http://0x7f000001/"),
    ])
    func `scheme, host and port in other words are one origin`(left: String, right: String) throws {
        #expect(try URLReference(left).origin == URLReference(right).origin)
    }

    @Test(arguments: [
        ("http://host/", "https://host/"), ("http://host/", "http://host:8080/"),
        ("http://host/", "http://www.host/"), ("http://host:443/", "https://host/"),
        ("http://[fe80::1%251]/", "http://[fe80::1%252]/"),
    ])
    func `another scheme, host or port is another origin`(left: String, right: String) throws {
        #expect(try URLReference(left).origin != URLReference(right).origin)
    }
}
