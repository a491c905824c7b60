// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@Suite struct MatchRuleTests {
    @Test func `a rule is written in the specification's form`() throws {
        let rule = MatchRule(
            sender: "org.example.A",
            interface: "a.b",
            member: "C",
            path: "/d",
            arguments: [1: "two", 0: "it's"]
        )
        #expect(
            try rule.text()
                == "type='signal',sender='org.example.A',interface='a.b',member='C',path='/d',"
                + #"arg0='it'\''s',arg1='two'"#
        )
        #expect(try MatchRule(pathNamespace: "/a").text() == "type='signal',path_namespace='/a'")
    }

    @Test(arguments: [
        MatchRule(path: "/a", pathNamespace: "/"),
        MatchRule(arguments: [64: "a"]),
        MatchRule(arguments: [-1: "a"]),
        MatchRule(arguments: [0: "a\0b"]),
    ])
    func `a rule that cannot be is refused`(_ rule: MatchRule) {
        #expect(throws: BusError.self) { try rule.text() }
    }
}
