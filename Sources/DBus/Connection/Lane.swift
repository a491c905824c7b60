// SPDX-License-Identifier: Apache-2.0

/// A queue of items, first in, first out, that frees what is taken.
package struct Lane<Item> {
    /// The first items in reverse order, the very first one at the end.
    private var front: [Item] = []
    private var back: [Item] = []

    package init() {}

    package var isEmpty: Bool { front.isEmpty && back.isEmpty }

    package mutating func append(_ item: Item) { back.append(item) }

    package mutating func takeFirst() -> Item? {
        if front.isEmpty { (front, back) = (back.reversed(), []) }
        return front.popLast()
    }
}

extension Lane: Sendable where Item: Sendable {}
