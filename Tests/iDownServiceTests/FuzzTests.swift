// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownTesting

@testable import iDownService

/// What web pages fire at the desktop, changed at random.
@Suite struct FuzzTests {
    @Test func `a link that is opened, and the URL in it`() throws {
        let fuzzer = Fuzzer("uri", test: #filePath)
        #expect(fuzzer.hasCorpus)
        try fuzzer.run { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard let opened = try? OpenedURI(text) else { return }
            switch opened {
            case .url(let url), .link(let url):
                guard let reference = try? OptionChecker.reference(url) else { return }
                // What was taken once is taken again, and means the same.
                guard (try? OptionChecker.reference(reference.text))?.text == reference.text else {
                    throw Fuzzer.Finding("the URL changes when it is read again", bytes)
                }
            case .file(let path):
                let isAbsolute = path.hasPrefix("/") && !path.utf8.contains(0)
                guard isAbsolute else { throw Fuzzer.Finding("no path", bytes) }
            }
        }
    }
}
