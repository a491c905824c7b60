// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownloader

@Suite struct StructuredDictionaryTests {
    private func read(_ values: String...) -> [String: [UInt8]]? {
        StructuredDictionary(values.map { Array($0.utf8) })?.byteSequences
    }

    @Test func `byte sequences are found by their keys`() {
        #expect(read("a=:aGVsbG8=:") == ["a": Array("hello".utf8)])
        #expect(read("a=:aGVsbG8=:,b=::") == ["a": Array("hello".utf8), "b": []])
        #expect(
            read("a=:aGVsbG8=: \t,\t *b_1-.*=:AA==:") == ["a": Array("hello".utf8), "*b_1-.*": [0]]
        )
    }

    @Test func `a field may come in several lines`() {
        #expect(read("a=:AA==:", "b=:AQ==:") == ["a": [0], "b": [1]])
    }

    @Test func `the last of several counts`() {
        #expect(read("a=:AA==:, a=:AQ==:") == ["a": [1]])
        #expect(read("a=:AA==:, a=1") == [:])
        #expect(read("a=:AA==:, a") == [:])
    }

    @Test func `padding may be missing`() {
        #expect(read("a=:aGVsbG8:") == ["a": Array("hello".utf8)])
    }

    @Test func `parameters and members of other kinds are passed over`() {
        #expect(
            read(
                "a;x;y=1, b=:AA==:;q=0.5, c=\"a \\\"b\\\", c=:AQ==:\", d=tok/en:*, e=?1, f=-1.25, "
                    + "g=(1 \"a)\" :AA==:;x=y );z, h=()"
            ) == ["b": [0]]
        )
    }

    @Test func `an empty field is an empty dictionary`() {
        #expect(read("") == [:])
        #expect(read("   ") == [:])
    }

    @Test(arguments: [
        "a=:AA==", "a=:A$==:", "a=:A:", "a=", "a=:AA==:,", "a=:AA==: b", "A=:AA==:", ",a",
        "=:AA==:",
        "a=\"x", "a=\"\\x\"", "a=\"\u{e9}\"", "a=(1", "a=(1,2)", "a=?2", "a=1.", "a=1.2345",
        "a=-", "a=1234567890123456", "a=:AA==:;", "a=:AA==:;B", "a=@", "\t", "a=(1\"x\")",
        "a=:AA=A:",
    ])
    func `a field that breaks the rules anywhere counts as not sent`(field: String) {
        #expect(read("z=:AA==:, " + field) == nil || field.first == "," || field == "\t")
        #expect(read(field) == nil)
    }

    @Test func `hostile bytes do no harm`() {
        var hostile = HostileBytes(seed: 11)
        for _ in 0..<20_000 {
            _ = StructuredDictionary([hostile.bytes("a=:AQ,;()\"\\?.-1* ", longest: 40)])
        }
    }
}
