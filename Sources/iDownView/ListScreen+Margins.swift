// SPDX-License-Identifier: Apache-2.0

extension ListScreen {
    /// The numbers of lines above and below the rows; on a small screen the rows come first.
    struct Margins {
        /// Lines above the rows: the counts, and the titles of the columns.
        var head = 2
        /// Lines below the rows: totals, message and keys; on a small screen only the message.
        var foot = wholeFoot

        static let wholeFoot = 3

        /// - Parameters:
        ///   - height: Lines of the screen.
        ///   - message: Lines of the message; a small screen shows one of them.
        init(height: Int = .max, message: Int = 1) {
            switch height {
            case 7...: foot = Self.wholeFoot - 1 + message
            case 5...: foot = 1
            case 3...: (head, foot) = (1, 1)
            case 2: (head, foot) = (0, 1)
            default: (head, foot) = (0, 0)
            }
        }
    }
}
