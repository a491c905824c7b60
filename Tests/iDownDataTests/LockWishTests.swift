// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@testable import iDownData

@Suite struct LockWishTests {
    @Test func `it is there as long as somebody has it, and looking takes nothing away`()
        async throws
    {
        try await withTemporaryFolder { folder in
            #expect(!LockWish.isThere(folder: folder))
            var first = try LockWish.tryMake(folder: folder)
            #expect(first != nil)
            #expect(LockWish.isThere(folder: folder))
            var second = try LockWish.tryMake(folder: folder)
            #expect(second != nil)
            first = nil
            #expect(LockWish.isThere(folder: folder))
            second = nil
            #expect(!LockWish.isThere(folder: folder))
        }
    }

    @Test func `nobody wishes where the folder is none, and its file is the user's alone`()
        async throws
    {
        try await withTemporaryFolder { folder in
            #expect(!LockWish.isThere(folder: folder + "/none"))
            #expect(throws: FileFailure.self) {
                _ = try LockWish.tryMake(folder: folder + "/none")
            }
            let wish = try LockWish.tryMake(folder: folder)
            let file = try #require(try Files().status(folder + "/lock.wanted"))
            #expect(file.st_mode & 0o777 == 0o600)
            withExtendedLifetime(wish) {}
        }
    }
}
