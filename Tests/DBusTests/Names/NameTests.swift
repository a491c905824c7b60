// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@Suite struct NameTests {
    @Test(arguments: ["/", "/a", "/a/b", "/_/0", "/org/idown/Manager1/task/42", "/A_9"])
    func `these are object paths`(_ text: String) throws {
        #expect(try ObjectPath(validating: text).rawValue == text)
    }

    @Test(arguments: [
        "", "a", "a/b", "//", "/a/", "/a//b", "/a-b", "/a.b", "/a b", "/ä", "/a\0", "/\u{FFFF}",
    ])
    func `these are no object paths`(_ text: String) {
        #expect(throws: BusError.self) { try ObjectPath(validating: text) }
    }

    @Test(arguments: [
        ":1.42", ":1.2.3", ":a-b.0", "org.idown.Manager1", "a.b", "_a.-b", "org.x-y.Z",
        "a." + String(repeating: "b", count: 253),
    ])
    func `these are bus names`(_ text: String) throws {
        #expect(try BusName(validating: text).rawValue == text)
    }

    @Test(arguments: [
        "", "a", ".a", "a.", "a..b", "a.1b", "1a.b", "a.b c", "a.b/", "a.ü", "a:b.c", "a.b\0",
        "a." + String(repeating: "b", count: 254),
    ])
    func `these are no bus names`(_ text: String) {
        #expect(throws: BusError.self) { try BusName(validating: text) }
    }

    @Test(arguments: ["a.b", "org.idown.Task1", "_._", "a." + String(repeating: "b", count: 253)])
    func `these are interface and error names`(_ text: String) throws {
        #expect(try InterfaceName(validating: text).rawValue == text)
        #expect(try ErrorName(validating: text).rawValue == text)
    }

    @Test(arguments: [
        "", "a", ".a", "a.", "a..b", "a.1", "1.a", "a-b.c", "a.b-c", ":1.2", "a.b ", "a.é", "a.b\0",
        "a." + String(repeating: "b", count: 254),
    ])
    func `these are no interface or error names`(_ text: String) {
        #expect(throws: BusError.self) { try InterfaceName(validating: text) }
        #expect(throws: BusError.self) { try ErrorName(validating: text) }
    }

    @Test(arguments: ["a", "_", "GetAll", "A1", String(repeating: "m", count: 255)])
    func `these are member names`(_ text: String) throws {
        #expect(try MemberName(validating: text).rawValue == text)
    }

    @Test(arguments: [
        "", "1a", "a.b", "a-b", "a b", "ö", "a\0", String(repeating: "m", count: 256),
    ])
    func `these are no member names`(_ text: String) {
        #expect(throws: BusError.self) { try MemberName(validating: text) }
    }

    @Test func `a path knows its parent and what lies below it`() throws {
        let path: ObjectPath = "/org/idown/task"
        #expect(path.parent == "/org/idown")
        #expect(ObjectPath("/org").parent == .root)
        #expect(ObjectPath.root.parent == nil)
        #expect(try path.appending("7") == "/org/idown/task/7")
        #expect(try ObjectPath.root.appending("org") == "/org")
        #expect(throws: BusError.self) { try path.appending("") }
        #expect(throws: BusError.self) { try ObjectPath.root.appending("") }
        #expect(throws: BusError.self) { try path.appending("a/b") }
        #expect(path.hasPrefix("/org"))
        #expect(path.hasPrefix(.root))
        #expect(path.hasPrefix(path))
        #expect(!path.hasPrefix("/org/idown/tas"))
        #expect(!ObjectPath("/org").hasPrefix(path))
    }

    @Test func `a refusal names the text and its kind`() {
        let refusal = #expect(throws: BusError.self) { try ObjectPath(validating: "a") }
        #expect(refusal?.message == "\"a\" is not a valid object path.")
    }
}
