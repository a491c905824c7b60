// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus

@Suite struct TaskQueryTests {
    @Test func `a query survives the wire`() throws {
        #expect(try TaskQuery(TaskQuery().dictionary) == TaskQuery())
        var query = TaskQuery()
        query.states = [.paused, .failed]
        query.text = "iso"
        query.sort = .size
        query.descending = true
        query.offset = 10
        query.limit = 20
        query.properties = [.id, .state]
        #expect(query.dictionary.count == 7)
        #expect(try TaskQuery(query.dictionary) == query)
    }

    @Test(
        arguments: [
            ("Text", .string("a"), "text"), ("states", .string("paused"), "as"),
            ("states", ["sleeping"].busValue, "waiting"), ("sort", .string("date"), "added"),
            ("sort", .byte(1), "type s"), ("limit", .int32(1), "type u"),
            ("offset", .uint64(1), "type u"), ("descending", .string("yes"), "type b"),
            ("text", .array(of: "s", []), "type s"), ("properties", .string("Id"), "as"),
            ("properties", ["id"].busValue, "Id"),
        ] as [(String, Value, String)]
    )
    func `what is wrong is InvalidOption, with what would be right`(
        key: String,
        value: Value,
        hint: String
    ) {
        let error = #expect(throws: ManagerError.self) { try TaskQuery([key: value]) }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.contains(hint) == true, "\(error?.message ?? "")")
    }

    @Test func `RemoveTasks knows one option`() throws {
        var options = RemoveOptions()
        #expect(options.dictionary.isEmpty)
        options.trashFiles = true
        #expect(try RemoveOptions(options.dictionary) == options)
        for wrong in [["trash": Value.boolean(true)], ["trash-files": .string("yes")]] {
            let error = #expect(throws: ManagerError.self) { try RemoveOptions(wrong) }
            #expect(error?.code == .invalidOption)
        }
    }
}
