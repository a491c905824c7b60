// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// A key in the dictionary of options that a call takes.
///
/// Every refusal is `InvalidOption` unless it says otherwise. Its text names the key and what would be
/// right.
protocol OptionKey: RawRepresentable<String>, CaseIterable, Hashable {
    /// What an error calls a key: "option" or "key".
    static var noun: String { get }
}

extension OptionKey {
    static var noun: String { "option" }

    /// Calls the body with every key and its value, and refuses a dictionary with an unknown key.
    static func forEach(
        in dictionary: [String: Value],
        _ body: (Self, Value) throws(ManagerError) -> Void
    ) throws(ManagerError) {
        // Sorted, so that the same one of several mistakes is always reported.
        for (text, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            guard let key = Self(rawValue: text) else {
                let keys = allCases.map(\.rawValue).joined(separator: ", ")
                throw ManagerError(
                    .invalidOption,
                    "There is no \(noun) \(QuotedText(text)). The \(noun)s are \(keys)."
                )
            }
            try body(key, value)
        }
    }

    /// Returns the error for a value that is not taken; the text follows the key.
    func refusal(_ text: String, _ code: ManagerError.Code = .invalidOption) -> ManagerError {
        ManagerError(code, "\(rawValue) \(text).")
    }

    /// Decodes a value; refuses another type.
    func read<Content: BusType>(_ value: Value) throws(ManagerError) -> Content {
        do throws(DecodingFailure) {
            return try Content(busValue: value)
        } catch {
            throw refusal("must be of type \(Content.signature), not \(value.signature)")
        }
    }

    /// Decodes a number; refuses one out of a range.
    func number<Number: BusType & Comparable>(
        _ value: Value,
        within range: ClosedRange<Number>
    ) throws(ManagerError) -> Number {
        let number: Number = try read(value)
        guard range.contains(number) else {
            throw refusal("must be \(range.lowerBound) to \(range.upperBound), not \(number)")
        }
        return number
    }

    /// Decodes one of the words of a type.
    func word<Word: CaseIterable & RawRepresentable<String>>(
        _ value: Value
    ) throws(ManagerError) -> Word {
        let text: String = try read(value)
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal("must be one of \(words), not \(QuotedText(text))")
        }
        return word
    }
}
