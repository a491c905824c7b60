// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct TaskIDTests {
    @Test(arguments: [("1", 1), ("42", 42), ("9223372036854775807", .max)] as [(String, Int64)])
    func `the canonical decimal text is read and written`(text: String, number: Int64) throws {
        let id = try #require(TaskID(text))
        #expect(id.rawValue == number)
        #expect(id.description == text)
        #expect(TaskID(rawValue: number) == id)
    }

    @Test(arguments: [
        "", "0", "-1", "+1", "01", " 1", "1 ", "1\n", "1.0", "0x1", "1e3", "one", "\u{FF11}",
        "\u{661}", "1\u{0}", "9223372036854775808", "99999999999999999999", "/1",
    ])
    func `any other text is no id`(text: String) {
        #expect(TaskID(text) == nil)
    }

    @Test(arguments: [0, -1, .min] as [Int64])
    func `a number below 1 is no id`(number: Int64) {
        #expect(TaskID(rawValue: number) == nil)
    }

    @Test func `ids are ordered as numbers, not as text`() throws {
        let (nine, ten) = (try #require(TaskID("9")), try #require(TaskID("10")))
        #expect(nine < ten)
        #expect(!(ten < nine))
    }

    @Test func `transfers are counted from 1`() {
        #expect(AttemptNumber.none.rawValue == 0)
        #expect(AttemptNumber.none.next.rawValue == 1)
        #expect(AttemptNumber.none < AttemptNumber.none.next)
    }
}
