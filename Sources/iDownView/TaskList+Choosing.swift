// SPDX-License-Identifier: Apache-2.0

private import iDownBus

// The cursor and edit mode.
extension TaskList {
    /// Moves the cursor by rows, and no further than the first and the last.
    package mutating func moveCursor(by step: Int) {
        let rows = rows()
        guard !rows.isEmpty else { return }
        moveCursor(to: place + max(-rows.count, min(rows.count, step)))
    }

    /// Puts the cursor on a row, counted from 0, or on the nearest that there is.
    package mutating func moveCursor(to row: Int) {
        let rows = rows()
        guard !rows.isEmpty else { return }
        place = max(0, min(row, rows.count - 1))
        cursor = rows[place]
    }

    /// The row with the cursor, counted from 0.
    package mutating func cursorRow() -> Int {
        _ = rows()
        return place
    }

    /// Begins or ends edit mode; nothing is chosen afterwards.
    package mutating func setEditing(_ isEditing: Bool) {
        self.isEditing = isEditing
        chosen = []
    }

    /// Chooses the cursor's row or takes it out of the choice.
    package mutating func toggleChoice() {
        _ = rows()
        guard isEditing, let cursor else { return }
        if chosen.remove(cursor) == nil { chosen.insert(cursor) }
    }

    /// Chooses all rows that are shown; where they are already, none.
    package mutating func toggleAll() {
        guard isEditing else { return }
        let rows = rows()
        chosen = rows.allSatisfy(chosen.contains) ? [] : Set(rows)
    }

    /// What a verb is meant for: in edit mode the choice in the order of the rows, and those
    /// chosen that are not shown; else the cursor's row.
    package mutating func meant() -> [String] {
        let rows = rows()
        guard isEditing else { return cursor.map { [$0] } ?? [] }
        let visible = rows.filter(chosen.contains)
        let hidden = chosen.subtracting(visible)
        return visible + hidden.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }
}
