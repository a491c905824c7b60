// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus

@Suite struct TaskPathTests {
    @Test func `an id and its path name each other`() throws {
        let path = try #require(TaskPath(id: "42"))
        #expect(path.objectPath == "/org/idown/Manager1/task/42")
        #expect(TaskPath.id(at: "/org/idown/Manager1/task/42") == "42")
    }

    @Test(arguments: ["", "0", "-1", "+1", "007", " 1", "1 ", "x", "١", "9223372036854775808"])
    func `what is no positive decimal number is no id`(text: String) {
        #expect(TaskPath(id: text) == nil)
        #expect(!TaskPath.isID(text))
    }

    @Test(arguments: [
        "/", "/org/idown/Manager1", "/org/idown/Manager1/task", "/org/idown/Manager1/task/1/2",
        "/org/idown/Manager1/task/x", "/org/other/task/1",
    ])
    func `another path is no task's`(text: String) throws {
        #expect(TaskPath.id(at: try ObjectPath(validating: text)) == nil)
    }

    @Test func `a path in place of an id means its id`() {
        #expect(TaskPath.id(meantBy: "/org/idown/Manager1/task/42") == "42")
        #expect(TaskPath.id(meantBy: "42") == "42")
        #expect(TaskPath.id(meantBy: "no such thing") == "no such thing")
        #expect(TaskPath.id(meantBy: "/org/idown/Manager1/task/") == "/org/idown/Manager1/task/")
    }
}
