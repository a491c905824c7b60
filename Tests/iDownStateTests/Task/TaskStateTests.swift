// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct TaskStateTests {
    static let later = WallTime(microseconds: 5)

    @Test(
        arguments: [
            (.waiting(.queue), "waiting", true),
            (.waiting(.retry(at: later)), "waiting", true),
            (.waiting(.offline), "waiting", true),
            (.waiting(.space), "waiting", true),
            (.downloading, "downloading", true),
            (.paused, "paused", true),
            (.completed, "completed", false),
            (.failed, "failed", true),
            (.cancelled, "cancelled", false),
        ] as [(TaskState, String, Bool)]
    )
    func `each state has the contract's name, and is finished or not`(
        state: TaskState,
        name: String,
        isUnfinished: Bool
    ) {
        #expect(state.kind.rawValue == name)
        #expect(state.isUnfinished == isUnfinished)
    }

    @Test func `the kinds stand in the order of the contract's table`() {
        let names = TaskState.Kind.allCases.map(\.rawValue)
        #expect(
            names == ["waiting", "downloading", "paused", "completed", "failed", "cancelled"]
        )
    }

    @Test(arguments: ["checksum", "validators", "length", "none"])
    func `integrity has the contract's names`(name: String) {
        #expect(Integrity(rawValue: name)?.rawValue == name)
    }
}
