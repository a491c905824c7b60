// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

@Suite struct ProgressBarTests {
    @Test(
        arguments: [
            (0, "[          ]"),
            (0.05, "[          ]"),
            (0.1, "[>         ]"),
            (0.5, "[====>     ]"),
            (0.99, "[========> ]"),
            (1, "[==========]"),
            (7, "[==========]"),
            (-1, "[          ]"),
            (Double.nan, "[          ]"),
            (Double.infinity, "[==========]"),
        ] as [(Double, String)]
    )
    func `a bar is filled as far as the whole is there`(fraction: Double, text: String) {
        #expect(ProgressBar(fraction: fraction, width: 12).text == text)
    }

    @Test func `a mark wanders to and fro while the whole is not known`() {
        let texts = (0...6).map { ProgressBar(fraction: nil, width: 8, step: $0).text }
        #expect(
            texts == [
                "[<=>   ]", "[ <=>  ]", "[  <=> ]", "[   <=>]", "[  <=> ]", "[ <=>  ]",
                "[<=>   ]",
            ]
        )
        #expect(ProgressBar(fraction: nil, width: 8, step: .min).text.count == 8)
    }

    @Test func `every width is kept`() {
        for width in -3...40 {
            let expected = width < 3 ? 0 : width
            for fraction in [nil, 0, 0.3, 1] as [Double?] {
                #expect(ProgressBar(fraction: fraction, width: width).text.count == expected)
            }
        }
    }
}
