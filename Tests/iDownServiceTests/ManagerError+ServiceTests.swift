// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownData
import iDownState
import iDownloader

@testable import iDownService

@Suite struct ManagerErrorServiceTests {
    private struct Odd: Error {
        let secret = "SECRET"
    }

    @Test(arguments: [
        (ServiceRefusal.noSuchTask("7") as any Error, ManagerError.Code.noSuchTask),
        (ServiceRefusal.fileExists("a"), .fileExists),
        (ServiceRefusal.limitExceeded("no more"), .limitExceeded),
        (ServiceRefusal.stopping, .stopping),
        (Refusal.invalidState(.pause, .completed), .invalidState),
        (Refusal.publishing, .invalidState),
        (Refusal.keepsOption(.url, .completed), .invalidState),
        (StoreFailure.closed, .stopping),
        (StoreFailure.database(code: 13, message: "database or disk is full"), .storeFailed),
        (StoreFailure.corruptRecord(id: 3, column: "url"), .storeFailed),
        (StoreFailure.idsExhausted, .storeFailed),
        (SettingsFailure.unreadable(path: "/x"), .storeFailed),
        (FolderRefusal("closed"), .invalidDestination),
        (ManagerError(.invalidURL, "none"), .invalidURL),
        (Odd(), .failed),
    ])
    func `every failure has its name on the bus`(_ error: any Error, _ code: ManagerError.Code) {
        let named = ManagerError(error)
        #expect(named.code == code)
        #expect(!named.message.isEmpty)
        #expect(!named.message.contains("SECRET"))
        // Whoever called may be a person at a command line, or a program on the bus.
        #expect(!named.message.contains("ListTasks") && !named.message.contains("idown list"))
    }

    @Test func `a name that a partial file takes is told with that file`() {
        let message = ManagerError(ServiceRefusal.fileExists("a")).message
        #expect(message.hasPrefix("a, or a.part, is already in the folder."), "\(message)")
    }

    /// Calls that only look at the list fail with it, too.
    @Test func `a failure of the list is told in words that fit reading and writing`() {
        let message = ManagerError(StoreFailure.database(code: 10, message: "disk I/O error"))
            .message
        #expect(message.contains("read or written") && message.contains("disk I/O error"))
    }
}
