// SPDX-License-Identifier: Apache-2.0

/// Finds the known word that a mistyped word most resembles.
package enum Spelling {
    /// Returns the known word that is at most two typing errors away; nil if there is none.
    ///
    /// An error is an extra, missing or wrong letter, or two swapped neighbors. A word of up to
    /// three letters may have only one, because with two errors any short word resembles any other.
    /// A word of at least two letters also finds a known word that begins with it.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let limit = word.count <= 3 ? 1 : 2
        let ranked = known.map { (word: $0, slips: slips(Array(word), Array($0))) }
        guard let best = ranked.min(by: { $0.slips < $1.slips }), best.slips <= limit else {
            return known.first { $0.hasPrefix(word) && word.count >= 2 }
        }
        return best.word
    }

    /// Returns the Damerau-Levenshtein distance, in which swapped neighbors count as one error.
    package static func slips(_ one: [Character], _ other: [Character]) -> Int {
        var rows = [Array(0...other.count)]
        for i in one.indices {
            var row = [i + 1]
            for j in other.indices {
                let replaced = rows[i][j] + (one[i] == other[j] ? 0 : 1)
                var least = min(replaced, rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}
