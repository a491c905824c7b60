// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

struct RaceTests {
    @Test func `what comes in time is returned`() async throws {
        #expect(try await within("a number") { 7 } == 7)
    }

    @Test func `what never comes says what it was, also where it cannot be cancelled`() async {
        let gate = FaultServer.Gate()
        let error = await #expect(throws: TimedOut.self) {
            try await within("the gate", limit: .milliseconds(1)) { await gate.waitUntilOpen() }
        }
        #expect(error?.description == "timed out waiting for the gate")
        gate.open()
    }

    @Test func `the first to end decides and ends the others`() async throws {
        let race = Race<Int>()
        let ended = FaultServer.Gate()
        race.run {
            do { try await Task.sleep(for: .seconds(600)) } catch { ended.open() }
            return 1
        }
        race.run { 2 }
        #expect(try await race.result() == 2)
        await ended.waitUntilOpen()
    }

    @Test func `a program that was not built is named`() {
        let error = #expect(throws: BuiltProgram.Missing.self) {
            try BuiltProgram("no-such-program")
        }
        #expect(error?.description.contains("no-such-program") == true)
    }
}
