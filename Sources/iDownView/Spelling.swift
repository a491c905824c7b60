// SPDX-License-Identifier: Apache-2.0

/// Finds the word that was probably meant.
package enum Spelling {
    /// Returns the word that is at most two typing slips away; nil where none is that near.
    ///
    /// A slip is a letter too many, too few or wrong, or two neighbours that changed places. A short
    /// word allows only one, since two slips make any short word another.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let limit = word.count <= 3 ? 1 : 2
        let ranked = known.map { (word: $0, slips: slips(Array(word), Array($0))) }
        guard let best = ranked.min(by: { $0.slips < $1.slips }), best.slips <= limit else {
            return known.first { $0.hasPrefix(word) && word.count >= 2 }
        }
        return best.word
    }

    /// The Damerau-Levenshtein distance, counting neighbours that changed places as one slip.
    private static func slips(_ one: [Character], _ other: [Character]) -> Int {
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
