// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@testable import iDownData

@Suite struct StateLockTests {
    @Test func `only one process holds the lock, until it releases it`() async throws {
        try await withTemporaryFolder { folder in
            var first = try StateLock.tryAcquire(folder: folder + "/idown")
            #expect(first != nil)
            #expect(try StateLock.tryAcquire(folder: folder + "/idown") == nil)
            first = nil
            #expect(try StateLock.tryAcquire(folder: folder + "/idown") != nil)
        }
    }

    @Test func `other processes respect it, and children do not inherit it`() async throws {
        try await withTemporaryFolder { folder in
            let other = ["--nonblock", "--conflict-exit-code", "9", folder + "/lock", "true"]
            try await withChild("/usr/bin/sleep", ["60"]) { _ in
                var lock = try StateLock.tryAcquire(folder: folder)
                #expect(lock != nil)
                let refused = try await ChildProcess.run("/usr/bin/flock", other)
                #expect(refused.status == .exited(9))
                try await withChild("/usr/bin/sleep", ["60"]) { _ in
                    lock = nil
                    let granted = try await ChildProcess.run("/usr/bin/flock", other)
                    #expect(granted.succeeded)
                }
            }
        }
    }

    @Test func `the lock's file and folder are private`() async throws {
        try await withTemporaryFolder { folder in
            let lock = try StateLock.tryAcquire(folder: folder + "/a/idown")
            let file = try #require(try Files().status(folder + "/a/idown/lock"))
            #expect(file.st_mode & 0o777 == 0o600)
            let made = try #require(try Files().status(folder + "/a/idown"))
            #expect(made.st_mode & 0o777 == 0o700)
            withExtendedLifetime(lock) {}
        }
    }
}
