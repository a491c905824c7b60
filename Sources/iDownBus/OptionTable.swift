// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The keys of a dictionary that a call takes; how the value of each is read and written stands in
/// one row.
struct OptionTable<Options>: Sendable {
    /// One key.
    struct Row: Sendable {
        let name: OptionName
        /// Takes a value of the dictionary.
        let read: @Sendable (inout Options, Value) throws(ManagerError) -> Void
        /// Returns the value for the dictionary; nil where nothing is given.
        let write: @Sendable (Options) -> Value?
    }

    /// In the order in which an error lists them.
    let rows: [Row]
    /// What an error calls a key: "option" or "key".
    private let noun: String
    private let places: [String: Int]

    init(noun: String = "option", _ rows: [Row]) {
        self.rows = rows
        self.noun = noun
        places = Dictionary(uniqueKeysWithValues: zip(rows.map(\.name.text), rows.indices))
    }

    var names: [String] { rows.map(\.name.text) }

    /// Takes every value of a dictionary, and refuses one with an unknown key.
    func read(
        _ dictionary: [String: Value],
        into options: inout Options
    ) throws(ManagerError) {
        // Sorted, so that the same one of several mistakes is always reported.
        for (text, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            guard let place = places[text] else {
                throw ManagerError(
                    .invalidOption,
                    "There is no \(noun) \(QuotedText(text)). The \(noun)s are"
                        + " \(names.joined(separator: ", "))."
                )
            }
            try rows[place].read(&options, value)
        }
    }

    /// Returns what is given as `a{sv}`.
    func dictionary(of options: Options) -> [String: Value] {
        var dictionary: [String: Value] = [:]
        for row in rows { dictionary[row.name.text] = row.write(options) }
        return dictionary
    }
}

extension OptionTable.Row {
    /// A value of any form.
    ///
    /// - Parameters:
    ///   - name: The key.
    ///   - path: Where the value is.
    ///   - read: Decodes a value, or refuses it.
    ///   - write: Encodes it; nil where nothing is given.
    init<Content>(
        _ name: String,
        _ path: any WritableKeyPath<Options, Content> & Sendable,
        read: @escaping @Sendable (OptionName, Value) throws(ManagerError) -> Content,
        write: @escaping @Sendable (Content) -> Value?
    ) {
        let name = OptionName(name)
        self.init(
            name: name,
            read: { options, value throws(ManagerError) in
                options[keyPath: path] = try read(name, value)
            },
            write: { write($0[keyPath: path]) }
        )
    }

    /// A value that is nil where none is given; `judge` refuses one, or returns what it means.
    init<Content: BusType>(
        _ name: String,
        _ path: any WritableKeyPath<Options, Content?> & Sendable,
        _ judge: @escaping @Sendable (OptionName, Content) throws(ManagerError) -> Content? = { $1 }
    ) {
        let read = { @Sendable (name: OptionName, value: Value) throws(ManagerError) in
            try judge(name, try name.read(value))
        }
        self.init(name, path, read: read) { $0?.busValue }
    }

    /// A number within a range.
    init<Number: BusType & Comparable & Sendable>(
        _ name: String,
        _ path: any WritableKeyPath<Options, Number?> & Sendable,
        within range: ClosedRange<Number>
    ) {
        self.init(name, path) { (name, number) throws(ManagerError) in
            try name.check(number, within: range)
        }
    }

    /// One of the words of a type.
    init<Word: CaseIterable & RawRepresentable<String> & Sendable>(
        _ name: String,
        word path: any WritableKeyPath<Options, Word?> & Sendable
    ) {
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        let read = { @Sendable (name: OptionName, value: Value) throws(ManagerError) -> Word? in
            let text: String = try name.read(value)
            guard let word = Word(rawValue: text) else {
                throw name.refusal("must be one of \(words), not \(QuotedText(text))")
            }
            return word
        }
        self.init(name, path, read: read) { $0?.rawValue.busValue }
    }

    /// Several words, none where they are not given; `judge` reads them.
    init<Word: RawRepresentable<String> & Sendable>(
        _ name: String,
        words path: any WritableKeyPath<Options, [Word]> & Sendable,
        _ judge: @escaping @Sendable (OptionName, [String]) throws(ManagerError) -> [Word]
    ) {
        let read = { @Sendable (name: OptionName, value: Value) throws(ManagerError) in
            try judge(name, try name.read(value))
        }
        self.init(name, path, read: read) { $0.isEmpty ? nil : $0.map(\.rawValue).busValue }
    }
}

/// The name of an option, which refuses wrong values.
///
/// Every refusal is `InvalidOption` unless it says otherwise. Its text names the option and what would
/// be right.
struct OptionName: Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    /// Returns the error for a value that is not taken; the text follows the name.
    func refusal(_ reason: String, _ code: ManagerError.Code = .invalidOption) -> ManagerError {
        ManagerError(code, "\(text) \(reason).")
    }

    /// Decodes a value; refuses another type.
    func read<Content: BusType>(_ value: Value) throws(ManagerError) -> Content {
        do throws(DecodingFailure) {
            return try Content(busValue: value)
        } catch {
            throw refusal("must be of type \(Content.signature), not \(value.signature)")
        }
    }

    /// Returns a number; refuses one out of a range.
    func check<Number: Comparable>(
        _ number: Number,
        within range: ClosedRange<Number>
    ) throws(ManagerError) -> Number {
        guard range.contains(number) else {
            throw refusal("must be \(range.lowerBound) to \(range.upperBound), not \(number)")
        }
        return number
    }
}
