// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct EscapeSequenceTests {
    @Test(arguments: [
        "[?1;2c", "[O", "[1;5P", "[27;5;112~", "OP", "O5P", "P>|XTerm(370)\u{1B}\\",
        "]11;rgb:0000/0000/0000\u{1B}\\", "]11;rgb:0000/0000/0000\u{07}", "_Gi=1;OK\u{1B}\\", "p",
        "é", "\u{1B}[A", "Pcut\u{18}", "[12\u{1A}",
    ])
    func `a sequence ends with its last character`(text: String) {
        var sequence = EscapeSequence()
        #expect(sequence.isAlone)
        let scalars = Array(text.unicodeScalars)
        let ends = scalars.indices.filter { sequence.ends(with: scalars[$0]) }
        #expect(ends == [scalars.count - 1])
    }
}
