// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@testable import iDownData

@Suite struct TemporaryFolderTests {
    @Test func `a temporary folder is private, and is removed with its content`() async throws {
        let files = Files()
        let path = try await withTemporaryFolder { path in
            let status = try #require(try files.status(path))
            #expect(status.st_mode & 0o777 == 0o700)
            try files.makePrivateFolder(path + "/a/b")
            try files.makePrivateFile(path + "/a/b/c")
            return path
        }
        #expect(try files.status(path) == nil)
    }

    @Test func `a temporary folder is removed when the body throws`() async throws {
        struct Thrown: Error {
            let path: String
        }
        do {
            try await withTemporaryFolder { throw Thrown(path: $0) }
            Issue.record("nothing was thrown")
        } catch let thrown as Thrown {
            #expect(try Files().status(thrown.path) == nil)
        }
    }
}
