// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@testable import iDownBus

/// The options of SetOptions.
@Suite struct EditOptionsTests {
    @Test func `all options survive the wire`() throws {
        var options = EditOptions()
        options.url = "https://e.org/"
        options.values.directory = "/d"
        options.values.filename = "f"
        options.values.checksum = "md5=00"
        options.values.expectedSize = 5
        options.values.mirrors = ["https://m.example/"]
        options.values.headers = [AddOptions.Header(name: "X-Key", value: "1")]
        options.values.referrer = "https://r.example/"
        options.values.userAgent = "Agent/1"
        options.values.cookies = "key=1"
        options.values.connections = 2
        options.values.speedLimit = 0
        options.values.priority = -1
        options.values.whenDone = .open
        options.values.onExisting = .fail
        options.values.retryFor = 0
        #expect(Set(options.dictionary.keys) == Set(EditOptions.table.names))
        #expect(try EditOptions(options.dictionary) == options)
    }

    @Test func `an empty value takes the option away`() throws {
        var options = EditOptions()
        options.cleared = Set(EditOptions.Clearable.allCases)
        #expect(options.dictionary.count == EditOptions.Clearable.allCases.count)
        #expect(try EditOptions(options.dictionary) == options)
    }

    @Test func `an option of one file is for one task, unless it is removed`() {
        var options = EditOptions()
        options.values.priority = 1
        options.values.checksum = ""
        options.values.expectedSize = 0
        options.cleared = [.mirrors]
        #expect(options.keysOfOneFile == [])
        options.url = "https://e.org/"
        options.values.filename = "f"
        options.values.checksum = "md5=00"
        #expect(options.keysOfOneFile == ["url", "filename", "checksum"])
    }

    @Test func `options of a new download alone are unknown`() {
        for key in ["paused", "token", "nonsense"] {
            let error = #expect(throws: ManagerError.self) {
                try EditOptions([key: .boolean(true)])
            }
            #expect(error?.code == .invalidOption)
        }
    }

    @Test func `a refusal of connections allows all numbers that are taken`() throws {
        let error = #expect(throws: ManagerError.self) {
            try EditOptions(["connections": .uint32(17)])
        }
        #expect(error?.message == "connections must be 0 to 16, not 17.")
        for number in Contract.maxConnections {
            _ = try EditOptions(["connections": .uint32(number)])
        }
    }

    @Test(
        arguments: [
            ("connections", .uint32(17)),
            ("priority", .uint32(1)), ("on-existing", .string("")), ("url", .uint32(1)),
            ("when-done", .string("run")), ("expected-size", .int64(0)), ("mirrors", .string("")),
            ("referrer", .string("a\nb")), ("headers", [String]().busValue),
        ] as [(String, Value)]
    )
    func `a wrong value is refused by the name of its option`(key: String, value: Value) {
        let error = #expect(throws: ManagerError.self) { try EditOptions([key: value]) }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.hasPrefix(key) == true)
    }
}
