// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@testable import iDownBus

@Suite struct ManagerErrorTests {
    @Test(arguments: ManagerError.Code.allCases)
    func `a code survives the wire`(code: ManagerError.Code) throws {
        _ = try ErrorName(validating: code.rawValue)
        let error = ManagerError(ManagerError(code, "text").busError)
        #expect(error.code == code)
        #expect(error.message == "text")
    }

    @Test func `the contract's names are never renamed`() {
        #expect(
            ManagerError.Code.allCases.map(\.name.rawValue)
                .filter { $0.hasPrefix("org.idown.") } == [
                    "org.idown.Error.InvalidURL", "org.idown.Error.UnsupportedScheme",
                    "org.idown.Error.InvalidOption", "org.idown.Error.InvalidDestination",
                    "org.idown.Error.FileExists", "org.idown.Error.NoSuchTask",
                    "org.idown.Error.InvalidState", "org.idown.Error.StoreFailed",
                    "org.idown.Error.LimitExceeded", "org.idown.Error.Disagreed",
                    "org.idown.Error.RequestFailed",
                    "org.idown.Error.Stopping",
                ]
        )
    }

    @Test func `an unknown name is kept`() {
        let error = ManagerError(BusError("org.idown.Error.FromTheFuture", "text"))
        #expect(error.code == nil)
        #expect(error.busError.name == "org.idown.Error.FromTheFuture")
        #expect(!error.isUnreachable)
    }

    @Test(
        arguments: [
            "org.freedesktop.DBus.Error.ServiceUnknown",
            "org.freedesktop.DBus.Error.Spawn.ExecFailed",
            "org.freedesktop.DBus.Error.Spawn.ChildExited",
            "org.freedesktop.DBus.Error.NoReply",
            "org.freedesktop.DBus.Error.Disconnected",
            "org.freedesktop.DBus.Error.NameHasNoOwner",
        ] as [ErrorName]
    )
    func `a service that is not there is unreachable`(name: ErrorName) {
        #expect(ManagerError(BusError(name, "")).isUnreachable)
    }

    @Test func `why the service ended is said in words, where the bus tells a number`() {
        func message(_ end: String) -> String {
            let name: ErrorName = "org.freedesktop.DBus.Error.Spawn.ChildExited"
            return ManagerError(received: BusError(name, "Process x exited with \(end)")).message
        }
        #expect(message("status 75").contains("another session"))
        #expect(message("status 74").contains("idown service logs"))
        #expect(message("status 1").hasSuffix("Process x exited with status 1"))
    }

    @Test func `an error without text is described by its name`() {
        #expect(ManagerError(.noSuchTask, "").description == "org.idown.Error.NoSuchTask")
    }
}
