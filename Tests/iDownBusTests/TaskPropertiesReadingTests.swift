// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DBus
@testable import iDownBus

@Suite struct TaskPropertiesReadingTests {
    /// The list as it arrives in an answer.
    private func read(_ list: WireWriter) throws -> [TaskProperties] {
        var reader = try WireReader(receiving: list)
        #expect(reader.signature == "aa{sv}")
        return try [TaskProperties](from: &reader)
    }

    @Test func `a list is read as it was told`() throws {
        var other = TaskProperties.sample
        other.id = "8"
        other.fileName = ""
        other.segments = []
        var listing = TaskListing()
        for task in [.sample, other, TaskProperties()] { try listing.append(task) }
        #expect(try read(WireWriter(listing)) == [.sample, other, TaskProperties()])
        #expect(try read(WireWriter(TaskListing())) == [])
    }

    @Test(arguments: TaskProperty.allCases)
    func `a property alone is read, and nothing else`(property: TaskProperty) throws {
        var listing = TaskListing(of: [property])
        try listing.append(.sample)
        let task = try #require(try read(WireWriter(listing)).first)
        #expect(task[property] == TaskProperties.sample[property])
        // These two tell which task it is, and how old the news.
        #expect(task.id == TaskProperties.sample.id)
        #expect(task.serial == TaskProperties.sample.serial)
        for other in TaskProperty.allCases where ![property, .id, .serial].contains(other) {
            #expect(task[other] == TaskProperties()[other], "\(other)")
        }
    }

    @Test func `unknown keys and values of wrong types are passed over`() throws {
        let entries = TaskProperty.allCases.flatMap { property in
            [
                Value.Entry(key: .string(property.rawValue), value: .variant(.byte(1))),
                Value.Entry(key: .string(property.rawValue + "2"), value: .variant(.string("x"))),
            ]
        }
        let dictionary = Value.dictionary(key: "s", value: "v", entries)
        #expect(
            try read(WireWriter(contents: [.array(of: "a{sv}", [dictionary])])) == [
                TaskProperties()
            ]
        )
    }

    @Test func `a list that no message can hold is LimitExceeded`() throws {
        var large = TaskProperties()
        large.url = String(repeating: "a", count: 31 << 20)
        var listing = TaskListing()
        try listing.append(large)
        #expect(try read(WireWriter(listing)) == [large])
        let error = #expect(throws: ManagerError.self) { try listing.append(large) }
        #expect(error?.code == .limitExceeded)
    }

    @Test func `a list that would fill the memory is refused`() throws {
        // Empty tasks of eight bytes each, as a message may hold them.
        let count = 1_000_000
        let length = withUnsafeBytes(of: UInt32(count * 8 - 4)) { Array($0) }
        var reader = WireReader(length + [UInt8](repeating: 0, count: count * 8), "aa{sv}")
        #expect(throws: DecodingFailure.self) { try [TaskProperties](from: &reader) }
    }

    @Test func `the objects of a list are read as they were told`() throws {
        var other = TaskProperties.sample
        other.id = "8"
        other.segments = []
        var listing = TaskListing()
        for task in [.sample, other] { try listing.append(task) }
        var reader = try WireReader(receiving: WireWriter(TaskListing.Objects(listing)))
        #expect(reader.signature == "a{oa{sa{sv}}}")
        let objects = try [ObjectPath: [String: TaskProperties]](from: &reader)
        #expect(
            objects == [
                "/org/idown/Manager1/task/7": ["org.idown.Task1": .sample],
                "/org/idown/Manager1/task/8": ["org.idown.Task1": other],
            ]
        )
    }
}

extension WireReader {
    /// What libdbus makes of a body that was marshalled here.
    init(receiving body: WireWriter) throws(BusError) {
        let libdbus = LibDBusCalls(faults: nil)
        let address = ReplyAddress(serial: 1, sender: nil)
        let message = try Message(replyTo: address, body, libdbus: libdbus)
        try self.init(bodyOf: message.pointer, libdbus: libdbus)
        extendLifetime(message)
    }
}
