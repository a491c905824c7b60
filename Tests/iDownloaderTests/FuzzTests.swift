// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@testable import iDownloader

/// What servers send, changed at random: nothing of it may trap, and no name may get out of hand.
@Suite struct FuzzTests {
    @Test func `a head`() throws {
        let fuzzer = Fuzzer("head", test: #filePath)
        #expect(fuzzer.hasCorpus)
        fuzzer.run { bytes in
            var reader = HeadReader()
            do throws(Failure) {
                for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) + [[]] {
                    try line.withUnsafeBytes { raw in
                        Result { () throws(Failure) in try reader.read(line: raw) }
                    }.get()
                }
            } catch {
                return
            }
            guard let head = reader.head else { return }
            _ = DuplicateLinks.references(head.fields)
            let name = FileName.suggested(
                contentDisposition: head.contentDisposition,
                urlPath: "/path/\(String(decoding: bytes.prefix(40), as: UTF8.self))",
                mimeType: head.facts.mimeType,
                limit: 255
            ).text
            let isOne = !name.isEmpty && !name.contains("/") && !name.utf8.contains(0)
            #expect(isOne && name.utf8.count <= 255 && name != "." && name != "..", "\(bytes)")
        }
    }

    @Test func `a metalink`() throws {
        let fuzzer = Fuzzer("metalink", test: #filePath)
        #expect(fuzzer.hasCorpus)
        fuzzer.run { bytes in
            guard let list = try? Metalink(bytes, schemes: ["http", "https", "ftp"]) else { return }
            let areNames = list.files.allSatisfy { !($0.name ?? "").contains("/") }
            #expect(areNames, "\(bytes)")
        }
    }
}
