// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownloader

@Suite struct ContentDispositionTests {
    private func name(_ field: String) -> String? {
        ContentDisposition(field.utf8).fileName
    }

    @Test(arguments: [
        ("attachment; filename=\"../../evil.txt\"", "evil.txt"),
        ("attachment; filename*=UTF-8''..%2F..%2Fevil.txt", "evil.txt"),
        ("attachment; filename=\"%2e%2e%2fevil.txt\"", "evil.txt"),
        ("attachment; filename=\"%252e%252e%252fevil.txt\"", "%2e%2e%2fevil.txt"),
        ("attachment; filename=\"..\\..\\evil.txt\"", "evil.txt"),
        ("attachment; filename=\"/tmp/x\"", "x"),
        ("attachment; filename=plain.txt;", "plain.txt"),
        ("attachment; filename=\"esc\\\"quote.txt\"", "esc\"quote.txt"),
        ("attachment; filename=\"a\"; filename*=UTF-8''%e2%82%ac.txt", "€.txt"),
        ("attachment; filename*=UTF-8''%e2%82%ac.txt; filename=\"a\"", "€.txt"),
        ("attachment; filename=.bashrc", "bashrc"),
        ("attachment; filename=-rf", "rf"),
        ("attachment; filename=evil.desktop", "evil.desktop"),
        ("attachment; filename=\"a\tb.txt\"", "a_b.txt"),
        ("attachment; filename=foo bar.txt", "foo bar.txt"),
        ("attachment; filename=\"=?UTF-8?B?4oKsLnR4dA==?=\"", "€.txt"),
        ("attachment; filename=\"=?ISO-8859-1?Q?na=EFve_=E9t=E9.txt?=\"", "naïve été.txt"),
    ])
    func `each field that the peers misread gives a sane name`(field: String, expected: String) {
        let safe = name(field).flatMap { FileName(sanitizing: $0)?.text }
        #expect(safe == expected)
    }

    @Test(arguments: ["attachment; filename=\"..\"", "attachment; filename=\"/\"", "inline"])
    func `a field without a name gives none`(field: String) {
        #expect(name(field).flatMap { FileName(sanitizing: $0)?.text } == nil)
    }

    @Test func `a name of 300 bytes is cut to what fits`() {
        let field = "attachment; filename=\"" + String(repeating: "a", count: 300) + ".iso\""
        let safe = name(field).flatMap { FileName(sanitizing: $0)?.text }
        #expect(safe == String(repeating: "a", count: 240) + ".iso")
    }

    @Test(arguments: [
        ("filename=a.txt", "a.txt"),
        ("FileName = a.txt", "a.txt"),
        ("attachment;filename=a.txt", "a.txt"),
        (";; ;filename=a.txt", "a.txt"),
        ("attachment; filename=\"a;b.txt\"; size=3", "a;b.txt"),
        ("attachment; filename=\"a.txt", "a.txt"),
        ("attachment; filename=\"a.txt\" junk; filename=b", "a.txt"),
        ("attachment; filename=a; filename=b", "a"),
        ("attachment; filename='a b.txt'", "a b.txt"),
        ("attachment; filename=it's.txt", "it's.txt"),
        ("attachment; filename=\"C:\\new\\a.txt\"", "a.txt"),
        ("attachment; filename=\"\\\\server\\share\\a.txt\"", "a.txt"),
        ("attachment; filename=a=b.txt", "a=b.txt"),
        ("attachment; name=x; filename=a.txt", "a.txt"),
        ("attachment; filename=\"100%.txt\"", "100%.txt"),
        ("attachment; filename=\"100%25.txt\"", "100%.txt"),
        ("attachment; filename=\"%E9.txt\"", "%E9.txt"),
        ("attachment; filename=\"%C3%A9.txt\"", "é.txt"),
        ("attachment; filename=€.txt", "€.txt"),
        ("attachment; filename=\"dir/\"", "dir"),
    ])
    func `fields are read as browsers read them`(field: String, expected: String) {
        #expect(name(field) == expected)
    }

    @Test(
        arguments: [
            ("filename*=iso-8859-1'en'%A3%20rates", "£ rates"),
            ("filename*=utf-8'de'%C3%9C.txt", "Ü.txt"),
            ("filename*=\"UTF-8''a%20b.txt\"", "a b.txt"),
            ("filename*=UTF-8''it's.txt", "it's.txt"),
            ("filename*=UTF-8''%ff.txt; filename=plain", "plain"),
            ("filename*=KOI8-R''%ff.txt; filename=plain", "plain"),
            ("filename*=no-charset; filename=plain", "plain"),
            ("filename*=UTF-8''; filename=plain", nil),
        ] as [(String, String?)]
    )
    func `an extended name is read in two character sets`(field: String, expected: String?) {
        #expect(name(field) == expected)
    }

    @Test func `raw Latin-1 is text as well`() {
        let field = Array("filename=\"caf".utf8) + [0xE9] + Array(".txt\"".utf8)
        #expect(ContentDisposition(field).fileName == "café.txt")
    }

    @Test(arguments: [
        ("=?utf-8?b?w6k?= =?UTF-8?Q?=C3=A9?=.txt", "é =?UTF-8?Q?=C3=A9?=.txt"),
        ("=?utf-8?b?w6k?= =?UTF-8?Q?=C3=A9.txt?=", "éé.txt"),
        ("a =?utf-8?q?b_c?=  d", "a b c  d"),
        ("=?utf-8*de?q?100%25?=", "100%25"),
        ("=?utf-8?B?!!!?=", "=?utf-8?B?!!!?="),
        ("=?koi8-r?B?4oKs?=", "=?koi8-r?B?4oKs?="),
        ("=?utf-8?x?abc?=", "=?utf-8?x?abc?="),
        ("=??=", "=??="),
        ("=?=", "=?="),
    ])
    func `encoded words of mail are read`(value: String, expected: String) {
        #expect(name("filename=\"\(value)\"") == expected)
    }

    @Test func `no bytes trap`() {
        var hostile = HostileBytes(seed: 7)
        for _ in 0..<3000 {
            let bytes = hostile.bytes(
                ";=\"\\'%*?/ filename*=UTF-8''%41=?utf-8?q?=41?=",
                longest: 80
            )
            for prefix in ["", "attachment; filename=", "filename*=UTF-8''", "filename==?utf-8?B?"]
            {
                let name = ContentDisposition(Array(prefix.utf8) + bytes).fileName
                #expect(name?.contains("/") != true)
                #expect(name?.isEmpty != true)
            }
        }
    }
}
