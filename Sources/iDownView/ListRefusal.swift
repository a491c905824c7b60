// SPDX-License-Identifier: Apache-2.0

/// Why the window does not take the links of a list's file.
package enum ListRefusal: Error, Hashable, Sendable {
    /// The file has more bytes than this.
    case tooLong(UInt64)
    /// The first entry that cannot be read, and what its place counts: ``DownloadList/unit``.
    case mistake(DownloadList.Mistake, unit: String)
    /// The file has comments at most.
    case empty

    /// Returns what is wrong, in the user's language.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: The text, which begins with the file's name.
    package func text(of path: String) -> String {
        let name = CellText(String(path.split(separator: "/").last ?? "")).cut(to: 60).description
        switch self {
        case .tooLong(let most):
            return translated(
                "{name} is longer than {size}",
                ["name": name, "size": ByteCount(most).description]
            )
        case .mistake(let mistake, let unit):
            // The reasons have no translations.
            guard !Wording.current.isEnglish else {
                return "\(name), \(unit) \(mistake.line): \(mistake.reason)"
            }
            let values = ["name": name, "number": "\(mistake.line)"]
            return unit == "line"
                ? translated("{name}, line {number} cannot be read", values)
                : translated("{name}, download {number} cannot be read", values)
        case .empty: return translated("{name} has no link", ["name": name])
        }
    }
}

extension DownloadList {
    /// Returns the whole list as text in the form that ``init(_:)`` reads.
    ///
    /// - Parameter text: The list in either form.
    /// - Returns: The text.
    /// - Throws: Why the list cannot be taken whole.
    package static func whole(_ text: String) throws(ListRefusal) -> String {
        let list: DownloadList
        do throws(Mistake) {
            list = try DownloadList(textOrJSON: text)
        } catch {
            throw .mistake(error, unit: "line")
        }
        if let mistake = list.mistakes.first { throw .mistake(mistake, unit: list.unit) }
        guard !list.entries.isEmpty else { throw .empty }
        return list.text
    }
}
