// SPDX-License-Identifier: Apache-2.0

extension ListScreen {
    /// The lines that are no rows; where there is little room they give way to the rows.
    struct Margins {
        /// Lines above the rows: counts, and the names of the columns.
        var head = 2
        /// Lines below: totals, what is under way or under the cursor, and the keys; or only what
        /// is under way.
        var foot = wholeFoot

        static let wholeFoot = 3

        /// - Parameters:
        ///   - height: Lines of the screen.
        ///   - message: Lines of what is under way or under the cursor; one where there is little
        ///     room.
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
