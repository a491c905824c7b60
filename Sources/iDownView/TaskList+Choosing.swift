// SPDX-License-Identifier: Apache-2.0

// The cursor and the selection.
extension TaskList {
    /// Moves the cursor by some rows, at most to the first or the last one.
    package mutating func moveCursor(by step: Int) {
        let rows = rows()
        guard !rows.isEmpty else { return }
        moveCursor(to: place + max(-rows.count, min(rows.count, step)))
    }

    /// Puts the cursor on a row, counted from 0, or on the nearest row.
    package mutating func moveCursor(to row: Int) {
        let rows = rows()
        guard !rows.isEmpty else { return }
        place = max(0, min(row, rows.count - 1))
        cursor = rows[place]
    }

    /// Returns the row with the cursor, counted from 0.
    package mutating func cursorRow() -> Int {
        _ = rows()
        return place
    }

    /// Begins or ends selecting; nothing is selected afterwards.
    package mutating func setEditing(_ isEditing: Bool) {
        self.isEditing = isEditing
        chosen = []
    }

    /// Selects the cursor's row, or deselects it.
    package mutating func toggleChoice() {
        _ = rows()
        guard isEditing, let cursor else { return }
        if chosen.remove(cursor) == nil { chosen.insert(cursor) }
    }

    /// Selects all rows; if all are selected, deselects them.
    package mutating func toggleAll() {
        guard isEditing else { return }
        let rows = rows()
        chosen = rows.allSatisfy(chosen.contains) ? [] : Set(rows)
    }

    /// Returns the IDs that a verb applies to: the selected ones, first those with rows, in their
    /// order; without a selection the cursor's row.
    package mutating func targets() -> [String] {
        let rows = rows()
        guard isEditing else { return cursor.map { [$0] } ?? [] }
        let visible = rows.filter(chosen.contains)
        let hidden = chosen.subtracting(visible)
        return visible + hidden.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }
}
