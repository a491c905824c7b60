// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A text that is known only after its reader was made.
final class Mailbox: Sendable {
    private let state = Mutex("")

    var text: String {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }
}
