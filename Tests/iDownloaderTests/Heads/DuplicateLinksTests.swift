// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownloader

@Suite struct DuplicateLinksTests {
    private func references(_ values: String...) -> [String] {
        var fields = FieldList()
        for value in values { fields.append(line: Array("Link: \(value)".utf8)[...]) }
        return DuplicateLinks.references(fields)
    }

    @Test func `mirrors come in the order of their priority`() {
        // RFC 6249 section 2.
        #expect(
            references(
                "<http://www2.example.com/example.ext>; rel=duplicate; pri=2",
                "<ftp://ftp.example.com/example.ext>; rel=duplicate; pri=1; geo=gb",
                "<http://example.com/example.ext.torrent>; rel=describedby; "
                    + "type=\"application/x-bittorrent\"",
                "<http://example.com/example.ext.meta4>; rel=describedby"
            ) == ["ftp://ftp.example.com/example.ext", "http://www2.example.com/example.ext"]
        )
        #expect(references("</a>; rel=duplicate, </b>; rel=duplicate; pri=5") == ["/b", "/a"])
    }

    @Test(arguments: [
        "<a,b;c>;rel=\"duplicate\"", "<a,b;c> ; REL=Duplicate ; x",
        "<a,b;c>;rel=\"next duplicate\"",
        "<x>;rel=next, <a,b;c>;title=\"a, b <c>\";rel=duplicate", "<a,b;c>;rel=duplicate;rel=next",
    ])
    func `a link is read whatever stands in and around it`(value: String) {
        #expect(references(value) == ["a,b;c"])
    }

    @Test(arguments: [
        "", "<a>", "<a>; rel=next", "a; rel=duplicate", "<a; rel=duplicate",
        "<a>; rel=duplicates", "<a>; anchor=\"/b\"; rel=duplicate", "<a>; rel=next; rel=duplicate",
    ])
    func `what is no mirror is passed over`(value: String) {
        #expect(references(value).isEmpty)
    }

    @Test func `no more than 200 mirrors are read`() {
        let value = (0..<1000).map { "<\($0)>; rel=duplicate" }.joined(separator: ",")
        #expect(references(value).count == 200)
    }

    @Test func `hostile bytes do no harm`() {
        var hostile = HostileBytes(seed: 17)
        for _ in 0..<10_000 {
            var fields = FieldList()
            let value = hostile.bytes("<>;=,\"\\ relduplicate", longest: 60)
            fields.append(line: (Array("link:".utf8) + value)[...])
            _ = DuplicateLinks.references(fields)
        }
    }
}
