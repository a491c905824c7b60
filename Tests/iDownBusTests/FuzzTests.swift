// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// What web pages fire at the desktop, changed at random.
@Suite struct FuzzTests {
    @Test func `a link that is opened`() throws {
        let fuzzer = Fuzzer("uri", test: #filePath)
        #expect(fuzzer.hasCorpus)
        fuzzer.run { bytes in
            guard let opened = try? OpenedURI(String(decoding: bytes, as: UTF8.self)) else {
                return
            }
            let schemes = ["http://", "https://", "ftp://", "ftps://", "sftp://"]
            let isKnown = schemes.contains { opened.url.lowercased().hasPrefix($0) }
            #expect(isKnown, "\(bytes)")
        }
    }
}
