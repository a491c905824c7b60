// SPDX-License-Identifier: Apache-2.0

/// A bar of some width: `[=====>    ]`, or `[   <=>   ]` while the size is not known.
package struct ProgressBar: Hashable, Sendable {
    /// 0 to 1; nil while the size is not known.
    package let fraction: Double?
    /// Cells, brackets included.
    package let width: Int
    /// The position of the `<=>` of an unknown size: each step moves it by one cell.
    package let step: Int

    package init(fraction: Double?, width: Int, step: Int = 0) {
        self.fraction = fraction
        self.width = width
        self.step = step
    }

    /// The bar in exactly ``width`` cells; empty if that is less than 3.
    package var text: String {
        let room = width - 2
        guard room >= 1 else { return "" }
        return "[\(fraction.map { filled($0, room) } ?? wandering(room))]"
    }

    private func filled(_ fraction: Double, _ room: Int) -> String {
        // NaN counts as 0: every comparison with it is false.
        let fraction = fraction > 0 ? min(fraction, 1) : 0
        let count = Int(Double(room) * fraction)
        guard count < room else { return String(repeating: "=", count: room) }
        guard count > 0 else { return String(repeating: " ", count: room) }
        return String(repeating: "=", count: count - 1) + ">"
            + String(repeating: " ", count: room - count)
    }

    private func wandering(_ room: Int) -> String {
        let mark = "<=>"
        guard room > mark.count else { return String(repeating: "?", count: room) }
        // The mark goes right, then back.
        let way = room - mark.count
        let place = Int(step.magnitude % UInt(2 * way))
        let left = place <= way ? place : 2 * way - place
        return String(repeating: " ", count: left) + mark
            + String(repeating: " ", count: way - left)
    }
}
