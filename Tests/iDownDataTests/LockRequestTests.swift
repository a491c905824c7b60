// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@testable import iDownData

@Suite struct LockRequestTests {
    @Test func `a request exists as long as its object, and checking does not end it`()
        async throws
    {
        try await withTemporaryFolder { folder in
            #expect(!LockRequest.exists(folder: folder))
            var first = try LockRequest.tryMake(folder: folder)
            #expect(first != nil)
            #expect(LockRequest.exists(folder: folder))
            var second = try LockRequest.tryMake(folder: folder)
            #expect(second != nil)
            first = nil
            #expect(LockRequest.exists(folder: folder))
            second = nil
            #expect(!LockRequest.exists(folder: folder))
        }
    }

    @Test func `there is no request in a missing folder, and its file is private`()
        async throws
    {
        try await withTemporaryFolder { folder in
            #expect(!LockRequest.exists(folder: folder + "/none"))
            #expect(throws: FileFailure.self) {
                _ = try LockRequest.tryMake(folder: folder + "/none")
            }
            let request = try LockRequest.tryMake(folder: folder)
            let file = try #require(try Files().status(folder + "/lock.wanted"))
            #expect(file.st_mode & 0o777 == 0o600)
            withExtendedLifetime(request) {}
        }
    }
}
