// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct FileNameURLTests {
    @Test(arguments: [
        ("http://host/a/file.iso", "file.iso"),
        ("http://host/zwei%20w%C3%B6rter.mkv?token=secret#part", "zwei wörter.mkv"),
        ("https://me:pass@host:8443/a%2Fb", "a_b"),
        ("http://host/..%2F..%2Fetc%2Fpasswd", "_.._etc_passwd"),
        ("http://host/%E2%80%AEgpj.exe", "gpj.exe"),
        ("http://host/-rf", "rf"),
        ("http://host/nul.txt", "_nul.txt"),
        ("http://host/%00%1B", "__"),
        ("http://host/gr%FC%DFe.txt", "grüße.txt"),
        ("http://host/", "download"),
        ("http://host", "download"),
        ("http://host?x=/b", "download"),
        ("http://host/a/", "download"),
        ("http://host/%2E%2E", "download"),
        ("not a url", "download"),
        ("sftp://host/%7E/notes.tar.gz", "notes.tar.gz"),
    ])
    func `a URL suggests a safe name`(url: String, name: String) {
        #expect(TaskRequest(url: url, directory: "/d").suggestedName == name)
    }

    @Test func `the name that the client wants comes before the URL's`() {
        let request = TaskRequest(url: "http://host/a.iso", directory: "/d", fileName: "b.iso")
        #expect(request.suggestedName == "b.iso")
    }

    /// Names of plain characters are taken as they are without a look at each rule.
    @Test func `a plain name is what the rules leave of it`() {
        var dice = SystemRandomNumberGenerator()
        let devices = ["con", "PRN", "aux", "Nul", "com1", "LPT9", "conin", "com", "conout"]
        let characters = Array("abcnlpu09XYZ.-_")
        for round in 0..<5_000 {
            let length = Int.random(in: 0...(round % 50 == 0 ? 300 : 12), using: &dice)
            var name = String(
                (0..<length).compactMap { _ in characters.randomElement(using: &dice) }
            )
            if round % 3 == 0, let device = devices.randomElement(using: &dice) {
                name = device + (round % 2 == 0 ? "." + name : name)
            }
            #expect(FileName(suggestedBy: "/d/" + name) == FileName(sanitizing: name), "\(name)")
        }
    }
}
