// SPDX-License-Identifier: Apache-2.0

import iDownTesting

/// A file that is worth several connections; its bytes are made once.
enum Large {
    static let content = TestContent(TestContent(seed: 21, count: (8 << 20) + 77).bytes)
    static let file = ServedFile(content)
}
