// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownloader

@Suite struct MetalinkTests {
    private static let schemes: Set<String> = ["http", "https", "ftp"]

    private func read(_ text: String) throws(MetalinkFault) -> [Metalink.File] {
        try Metalink(Array(text.utf8), schemes: Self.schemes).files
    }

    /// A document of version 4 around some elements.
    private func version4(_ elements: String) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
            + "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\(elements)</metalink>"
    }

    private func file(_ elements: String, name: String = "a.iso") throws -> Metalink.File {
        let files = try read(version4("<file name=\"\(name)\">\(elements)</file>"))
        #expect(files.count == 1)
        return try #require(files.first)
    }

    private static let url = "<url>http://host/a.iso</url>"
    private static let sha1 = "80bc95fd391772fa61c91ed68567f0980bb45fd9"

    // MARK: Both versions

    /// RFC 5854 section 1.1, with piece hashes as of section 4.1.3.
    @Test func `the RFC's example is read`() throws {
        let sha256 = "f0ad929cd259957e160ea442eb80986b5f01a5d3b0a0f6f7b5f6e8c4b1a3d2e1"
        let files = try read(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <metalink xmlns="urn:ietf:params:xml:ns:metalink">
              <published>2009-05-15T12:23:23Z</published>
              <file name="example.ext">
                <size>14471447</size>
                <identity>Example</identity>
                <version>1.0</version>
                <language>en</language>
                <description>A description of the example file for download.</description>
                <hash type="sha-256">\(sha256)</hash>
                <hash type="sha-1">\(Self.sha1)</hash>
                <url location="de" priority="1">ftp://ftp.example.com/example.ext</url>
                <url location="fr" priority="2">http://example.com/example.ext</url>
                <url>http://example.org/example.ext</url>
                <metaurl mediatype="torrent" priority="2">http://example.com/example.ext.torrent</metaurl>
              </file>
              <file name="example2.ext">
                <size>500</size>
                <hash type="sha-1">\(Self.sha1)</hash>
                <pieces length="262144" type="sha-1"><hash>\(Self.sha1)</hash></pieces>
                <url priority="2">http://example.com/example2.ext</url>
                <url priority="1">http://example.org/example2.ext</url>
              </file>
            </metalink>
            """
        )
        #expect(files.map(\.name) == ["example.ext", "example2.ext"])
        #expect(files.map(\.size) == [14_471_447, 500])
        #expect(files[0].checksum == (try Checksum(parsing: "sha-256=" + sha256)))
        #expect(
            files[0].urls == [
                "ftp://ftp.example.com/example.ext", "http://example.com/example.ext",
                "http://example.org/example.ext",
            ]
        )
        #expect(files[0].pieces == nil)
        #expect(files[1].pieces?.length == 262_144)
        #expect(files[1].pieces?.checksum(of: 0)?.description == "sha-1=" + Self.sha1)
        #expect(
            files[1].urls == ["http://example.org/example2.ext", "http://example.com/example2.ext"]
        )
    }

    @Test func `a file of version 3 is read`() throws {
        let md5 = "d41d8cd98f00b204e9800998ecf8427e"
        let files = try read(
            """
            <?xml version="1.0" encoding="utf-8"?>
            <metalink version="3.0" xmlns="http://www.metalinker.org/" type="dynamic"
                      xmlns:mm0="http://fedorahosted.org/mirrormanager">
              <publisher><name>X</name><url>http://publisher/</url></publisher>
              <files>
                <file name="image.iso">
                  <mm0:timestamp>1</mm0:timestamp>
                  <size>300</size>
                  <verification>
                    <hash type="md5">\(md5)</hash>
                    <hash type="sha1"> \(Self.sha1)
                    </hash>
                    <pieces length="256" type="sha1">
                      <hash piece="0">\(Self.sha1)</hash>
                      <hash piece="1">\(Self.sha1)</hash>
                    </pieces>
                    <signature type="pgp">-----BEGIN PGP SIGNATURE-----</signature>
                  </verification>
                  <resources maxconnections="5">
                    <url type="bittorrent" preference="100">http://host/image.iso.torrent</url>
                    <url type="http" location="jp" preference="40">http://jp/image.iso</url>
                    <url type="ftp" location="ch" preference="90">ftp://ch/image.iso</url>
                    <url protocol="https" preference="70">https://us/image.iso</url>
                    <url type="rsync">rsync://host/image.iso</url>
                  </resources>
                </file>
              </files>
            </metalink>
            """
        )
        #expect(files.count == 1)
        #expect(files.first?.name == "image.iso")
        #expect(files.first?.checksum?.description == "sha-1=" + Self.sha1)
        #expect(files.first?.pieces?.count == 2)
        #expect(
            files.first?.urls == [
                "ftp://ch/image.iso", "https://us/image.iso", "http://jp/image.iso",
            ]
        )
    }

    @Test func `hashes of pieces count where no size is given`() throws {
        let hash = "<hash>\(Self.sha1)</hash>"
        let pieces = "<pieces type=\"sha-1\" length=\"5\">\(hash)\(hash)</pieces>"
        #expect(try file(pieces + Self.url).pieces?.count == 2)
    }

    @Test func `the strongest hash counts, and an unknown one says nothing`() throws {
        let sha512 = String(repeating: "ab", count: 64)
        let found = try file(
            "<hash type=\"sha-512\">\(sha512)</hash><hash type=\"sha-1\">\(Self.sha1)</hash>"
                + "<hash type=\"sha3-256\">00</hash><hash>zz</hash>" + Self.url
        )
        #expect(found.checksum?.algorithm == .sha512)
        #expect(try file("<hash type=\"crc32\">00</hash>" + Self.url).checksum == nil)
    }

    @Test func `encodings that XML parsers know are read`() throws {
        let text =
            "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>"
            + "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"\u{e9}.iso\">"
            + Self.url + "</file></metalink>"
        let latin1 = text.unicodeScalars.map { UInt8($0.value) }
        #expect(try Metalink(latin1, schemes: Self.schemes).files.first?.name == "é.iso")
        let utf16 =
            "\u{FEFF}"
            + version4("<file name=\"é.iso\">\(Self.url)</file>")
            .replacing("UTF-8", with: "UTF-16")
        let bytes = utf16.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(try Metalink(bytes, schemes: Self.schemes).files.first?.name == "é.iso")
    }

    // MARK: Names

    @Test(arguments: [
        ("../../evil", "evil"), ("/etc/passwd", "passwd"),
        ("~/.ssh/authorized_keys", "authorized_keys"),
        ("a/../../b", "b"), ("..\\..\\evil.txt", "evil.txt"), ("C:\\evil.txt", "evil.txt"),
        ("C:evil.txt", "C:evil.txt"), ("dir/sub/file.iso", "file.iso"), (".bashrc", "bashrc"),
        ("a&#9;b", "a_b"), ("con", "_con"), ("-rf", "rf"), ("a/", "a"),
        ("%2e%2e%2fevil", "%2e%2e%2fevil"),
        ("a&#x202e;b", "ab"),
    ])
    func `a name never leads anywhere`(name: String, expected: String) throws {
        #expect(try file(Self.url, name: name).name == expected)
    }

    @Test(arguments: ["", "..", "/", "/..", "a/..", "..\\", "."])
    func `what is no name leaves it to the URL`(name: String) throws {
        #expect(try file(Self.url, name: name).name == nil)
    }

    @Test func `a name of 64 KiB is cut`() throws {
        let name = try file(Self.url, name: String(repeating: "x", count: 65_536) + ".iso").name
        #expect(name?.utf8.count ?? 0 <= 255)
        #expect(name?.hasSuffix(".iso") == true)
    }

    @Test func `no name has a null in it`() {
        expectRefusal("is not valid XML in line 1") { try file(Self.url, name: "a&#0;b") }
    }

    // MARK: What is refused

    private static let (noNumber, badHash) = (
        "has a size that is not a number",
        "has a hash that is not hexadecimal or has the wrong length"
    )
    private static let hash = "<hash>\(sha1)</hash>"
    /// The hexadecimal digits of another digest.
    private static let other = String(sha1.reversed())

    @Test(arguments: [
        ("<size>-1</size>", noNumber), ("<size>1e3</size>", noNumber), ("<size></size>", noNumber),
        ("<size>9223372036854775808</size>", noNumber),
        ("<hash type=\"sha-1\">80bc</hash>", badHash), ("<hash type=\"sha-1\"></hash>", badHash),
        ("<hash type=\"md5\">zz1d8cd98f00b204e9800998ecf8427e</hash>", badHash),
        (
            "<hash type=\"sha-1\">\(sha1)</hash><hash type=\"sha1\">\(other)</hash>",
            "has two different hashes for one file"
        ),
        ("<pieces type=\"sha-1\">\(hash)</pieces>", "has pieces without a length"),
        ("<pieces type=\"sha-1\" length=\"0\">\(hash)</pieces>", "has pieces without a length"),
        (
            "<size>9</size><pieces type=\"sha-1\" length=\"5\">\(hash)</pieces>",
            "has pieces that do not add up to their file"
        ),
        (
            "<size>9</size><pieces type=\"sha-1\" length=\"5\">"
                + "<hash piece=\"1\">\(sha1)</hash><hash piece=\"0\">\(sha1)</hash></pieces>",
            "has pieces that are not in order"
        ),
        ("<pieces type=\"sha-1\" length=\"5\"><hash>x</hash></pieces>", badHash),
    ])
    func `a document that contradicts itself is none`(elements: String, reason: String) {
        let fault = #expect(throws: MetalinkFault.self) { try file(elements + Self.url) }
        #expect(fault?.message == reason)
    }

    @Test func `the same hash twice is no contradiction`() throws {
        let hash = "<hash type=\"sha-1\">\(Self.sha1)</hash>"
        #expect(try file(hash + hash + Self.url).checksum?.description == "sha-1=" + Self.sha1)
    }

    private static let (otherKind, nothing, notXML) = (
        "is an XML document of another kind", "lists no file that can be downloaded",
        "is not valid XML in line 1"
    )

    @Test(arguments: [
        ("", notXML), ("no XML", notXML), ("<metalink", notXML), ("<html/>", otherKind),
        ("<metalink/>", nothing), ("<metalink><file name='a'/></metalink>", nothing),
        (
            "<metalink xmlns='urn:ietf:params:xml:ns:metalink'><file name='a'><url>rsync://h/a</url>"
                + "</file></metalink>",
            nothing
        ),
        ("<metalink><file name='a'><url>file:///etc/passwd</url></file></metalink>", nothing),
        ("<metalink><file name='a'><url>http:host</url></file></metalink>", nothing),
        ("<?xml version='1.0' encoding='x-unknown'?><metalink/>", notXML),
        ("<metalink><file name='a'><url>http://h/a</url></file>", notXML),
        ("<metalink><file name='a' name='b'><url>http://h/a</url></file></metalink>", notXML),
        ("<metalink>&undefined;</metalink>", notXML),
        ("<x:metalink><file name='a'><url>http://h/a</url></file></x:metalink>", notXML),
    ])
    func `what is no metalink is refused`(text: String, reason: String) {
        let fault = #expect(throws: MetalinkFault.self) { try read(text) }
        #expect(fault?.message == reason)
    }

    @Test func `entities are refused, those that grow and those that lead elsewhere`() {
        var bomb = "<!DOCTYPE metalink [<!ENTITY a0 \"lol\">"
        for level in 1...9 {
            let references = String(repeating: "&a\(level - 1);", count: 10)
            bomb += "<!ENTITY a\(level) \"\(references)\">"
        }
        let file = "<metalink><file name='a'><url>http://h/&a9;</url></file></metalink>"
        let documents = [
            bomb + "]>" + file,
            "<!DOCTYPE metalink [<!ENTITY a9 SYSTEM \"file:///etc/passwd\">]>" + file,
            "<!DOCTYPE metalink SYSTEM \"http://127.0.0.1:9/x.dtd\">" + file,
            "<!DOCTYPE metalink [<!ENTITY % p SYSTEM \"http://127.0.0.1:9/x\"> %p;]>" + file,
        ]
        for document in documents {
            let fault = #expect(throws: MetalinkFault.self) { try read(document) }
            #expect(fault?.message == "has a document type, which is refused")
        }
    }

    @Test func `there are limits to everything`() {
        let nested = String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40)
        expectRefusal("is nested too deeply") { try file(nested + Self.url) }
        let long = "<description>" + String(repeating: "x", count: 70_000) + "</description>"
        expectRefusal("has a text of more than 66560 bytes") { try file(long + Self.url) }
        let urls = (0...1000).map { "<url>http://h/\($0)</url>" }.joined()
        expectRefusal("has more than 1000 URLs for one file") { try file(urls) }
        let files = String(repeating: "<file name=\"a\">\(Self.url)</file>", count: 10_001)
        expectRefusal("lists more than 10000 files") { try read(version4(files)) }
        let spaces = [UInt8](repeating: 0x20, count: Int(Metalink.longestDocument) + 1)
        expectRefusal("is too long") { try Metalink(spaces, schemes: Self.schemes) }
    }

    private func expectRefusal<Value>(
        _ reason: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Value
    ) {
        let fault = #expect(throws: MetalinkFault.self, sourceLocation: sourceLocation) {
            _ = try body()
        }
        #expect(fault?.message == reason, sourceLocation: sourceLocation)
    }

    @Test func `of many mirrors the best are kept`() throws {
        let urls = (1...500).map { "<url priority=\"\(501 - $0)\">http://h/\($0)</url>" }.joined()
        let found = try file(urls + "<url priority=\"1\">http://h/500</url>").urls
        #expect(found.count == 101)
        #expect(found.first == "http://h/500")
    }

    @Test func `hostile bytes do no harm`() {
        var hostile = HostileBytes(seed: 23)
        let whole = Array(
            version4(
                "<file name=\"a\"><size>9</size><hash type=\"sha-1\">\(Self.sha1)</hash>"
                    + "<pieces type=\"sha-1\" length=\"9\"><hash>\(Self.sha1)</hash></pieces>"
                    + Self.url + "</file>"
            ).utf8
        )
        for _ in 0..<2000 {
            var document = whole
            for _ in 0..<Int.random(in: 1...4, using: &hostile) {
                let place = Int.random(in: 0..<document.count, using: &hostile)
                let bytes = hostile.bytes("<>/\"=&;0 a", longest: 3)
                document.replaceSubrange(place..<min(place + 2, document.count), with: bytes)
            }
            _ = try? Metalink(document, schemes: Self.schemes)
        }
    }
}

@Suite struct MetalinkKindTests {
    @Test(arguments: [
        ("application/metalink4+xml", "x", true), ("application/metalink+xml", "x", true),
        ("text/xml", "a.META4", true), ("", "a.metalink", true), ("text/xml", "a.xml", false),
        ("", "meta4", false), ("", "a.meta4.iso", false),
    ])
    func `a metalink is told by its type or its name`(type: String, name: String, isOne: Bool) {
        #expect(Metalink.isMeant(mimeType: type, name: name) == isOne)
    }
}
