// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownService

/// What web pages fire at the desktop, changed at random.
@Suite struct FuzzTests {
    @Test func `a link that is opened`() throws {
        let fuzzer = Fuzzer("uri", test: #filePath)
        #expect(fuzzer.hasCorpus)
        fuzzer.run { bytes in _ = try? OpenedURI(String(decoding: bytes, as: UTF8.self)) }
    }
}
