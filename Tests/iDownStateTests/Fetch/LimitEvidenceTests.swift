// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct LimitEvidenceTests {
    /// What a source does, and when, in seconds.
    enum Step: Sendable {
        case serves(at: Int)
        case forbids(at: Int)
        /// It has as many connections of other tasks as it allows.
        case forbidsInCrowd(at: Int)
        /// It has connections of other tasks, and may allow more or not.
        case forbidsBesideOthers(at: Int)
        case verb
    }

    /// The last step is a 403: whether it may pass.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]
        let mayPass: Bool

        init(_ description: String, _ steps: [Step], mayPass: Bool) {
            testDescription = description
            self.steps = steps
            self.mayPass = mayPass
        }
    }

    @Test(arguments: [
        Row("never served", [.forbids(at: 9)], mayPass: false),
        Row("never served, a verb", [.forbids(at: 9), .verb, .forbids(at: 10)], mayPass: false),
        Row("never served, in a crowd", [.forbidsInCrowd(at: 9)], mayPass: true),
        Row(
            "a crowd counts for no refusal",
            [
                .serves(at: 0), .forbids(at: 1), .forbidsInCrowd(at: 2), .forbidsInCrowd(at: 16),
                .forbids(at: 17),
            ],
            mayPass: true
        ),
        Row("alone again", [.forbidsInCrowd(at: 9), .forbids(at: 10)], mayPass: false),
        Row("never served, beside others", [.forbidsBesideOthers(at: 9)], mayPass: true),
        Row(
            "never served, three tries beside others in 15 s",
            [
                .forbidsBesideOthers(at: 1), .forbidsBesideOthers(at: 2),
                .forbidsBesideOthers(at: 16),
            ],
            mayPass: false
        ),
        Row(
            "never served, alone again",
            [.forbidsBesideOthers(at: 1), .forbids(at: 2)],
            mayPass: false
        ),
        Row("just served", [.serves(at: 0), .forbids(at: 0)], mayPass: true),
        Row("served an hour ago", [.serves(at: 0), .forbids(at: 3600)], mayPass: false),
        Row("served within the hour", [.serves(at: 0), .forbids(at: 3599)], mayPass: true),
        Row(
            "three tries in 14 s",
            [.serves(at: 0), .forbids(at: 1), .forbids(at: 2), .forbids(at: 15)],
            mayPass: true
        ),
        Row(
            "two tries in 15 s",
            [.serves(at: 0), .forbids(at: 1), .forbids(at: 16)],
            mayPass: true
        ),
        Row(
            "three tries in 15 s",
            [.serves(at: 0), .forbids(at: 1), .forbids(at: 2), .forbids(at: 16)],
            mayPass: false
        ),
        Row(
            "a fourth try after 15 s",
            [
                .serves(at: 0), .forbids(at: 1), .forbids(at: 2), .forbids(at: 3), .forbids(at: 16),
            ],
            mayPass: false
        ),
        Row(
            "served in between",
            [
                .serves(at: 0), .forbids(at: 1), .forbids(at: 2), .serves(at: 3), .forbids(at: 16),
            ],
            mayPass: true
        ),
        Row(
            "a verb in between",
            [.serves(at: 0), .forbids(at: 1), .forbids(at: 2), .verb, .forbids(at: 16)],
            mayPass: true
        ),
    ])
    func `a 403 may pass where the source has served the task lately`(row: Row) {
        var evidence = LimitEvidence()
        var last: Failure?
        for step in row.steps {
            switch step {
            case .serves(let second): evidence.served(isRange: false, at: .seconds(second))
            case .forbids(let second): last = evidence.judge(.status(403), at: .seconds(second))
            case .forbidsInCrowd(let second):
                last = evidence.judge(.status(403), load: .full, at: .seconds(second))
            case .forbidsBesideOthers(let second):
                last = evidence.judge(.status(403), load: .some, at: .seconds(second))
            case .verb: evidence.forgetRefusals()
            }
        }
        var expected = Failure.status(403)
        expected.isTransient = row.mayPass
        #expect(last == expected)
    }

    @Test(arguments: [401, 404, 410, 429, 451, 500, 503])
    func `every other answer means what it always means`(status: Int) {
        var evidence = LimitEvidence()
        evidence.served(isRange: true, at: .zero)
        #expect(evidence.judge(.status(status), at: .zero) == .status(status))
    }

    @Test func `that ranges were served is not forgotten`() {
        var evidence = LimitEvidence()
        evidence.served(isRange: false, at: .zero)
        #expect(!evidence.hasServedRange)
        evidence.served(isRange: true, at: .zero)
        evidence.served(isRange: false, at: .zero)
        #expect(evidence.hasServedRange)
    }
}
