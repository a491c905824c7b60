// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The keys of a call's dictionary; one row says how the value of a key is read and written.
struct OptionTable<Options>: Sendable {
    /// A key with the code for its value.
    struct Row: Sendable {
        let name: OptionName
        /// Decodes a value of the dictionary into the options.
        let read: @Sendable (inout Options, Value) throws(ManagerError) -> Void
        /// Returns the value for the dictionary; nil if the option is not given.
        let write: @Sendable (Options) -> Value?
    }

    /// The rows, in the order in which an error lists their keys.
    let rows: [Row]
    /// The word for a key in errors: "option" or "key".
    private let noun: String
    private let places: [String: Int]

    init(noun: String = "option", _ rows: [Row]) {
        self.rows = rows
        self.noun = noun
        places = Dictionary(uniqueKeysWithValues: zip(rows.map(\.name.text), rows.indices))
    }

    var names: [String] { rows.map(\.name.text) }

    /// Decodes every value of a dictionary; throws for an unknown key.
    func read(_ dictionary: [String: Value], into options: inout Options) throws(ManagerError) {
        // Sorted, so that of several mistakes always the same one is reported.
        for (text, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            guard let place = places[text] else {
                let list = names.joined(separator: ", ")
                throw ManagerError(
                    .invalidOption,
                    "There is no \(noun) \(QuotedText(text)). The \(noun)s are \(list)."
                )
            }
            try rows[place].read(&options, value)
        }
    }

    /// Returns the given options as `a{sv}`.
    func dictionary(of options: Options) -> [String: Value] {
        var dictionary: [String: Value] = [:]
        for row in rows { dictionary[row.name.text] = row.write(options) }
        return dictionary
    }
}

extension OptionTable.Row {
    /// Creates a row for a value of any type.
    ///
    /// - Parameters:
    ///   - name: The key.
    ///   - path: The property that holds the value.
    ///   - read: Decodes a value, or throws.
    ///   - write: Encodes the value; nil if the option is not given.
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

    /// Creates a row for an optional value; `judge` checks or converts it, or throws.
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

    /// Creates a row for a number within a range.
    init<Number: BusType & Comparable & Sendable>(
        _ name: String,
        _ path: any WritableKeyPath<Options, Number?> & Sendable,
        within range: ClosedRange<Number>
    ) {
        self.init(name, path) { (name, number) throws(ManagerError) in
            try name.check(number, within: range)
        }
    }

    /// Creates a row for a word that must be a case of an enumeration.
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

    /// Creates a row for a list of words, empty if not given; `judge` decodes them.
    init<Word: RawRepresentable<String> & Sendable>(
        _ name: String,
        words path: any WritableKeyPath<Options, [Word]> & Sendable,
        _ judge: @escaping @Sendable (OptionName, [String]) throws(ManagerError) -> [Word]
    ) {
        let read = { @Sendable (name: OptionName, value: Value) throws(ManagerError) -> [Word] in
            let words: [String] = try name.read(value)
            guard words.count <= mostWords else {
                throw name.refusal("must hold at most \(mostWords) words")
            }
            return try judge(name, words)
        }
        self.init(name, path, read: read) { $0.isEmpty ? nil : $0.map(\.rawValue).busValue }
    }
}

/// The most words of a list, more than any option knows.
private let mostWords = 64

/// The name of an option, with the checks of its value.
///
/// Every error is `InvalidOption` unless stated otherwise. Its text names the option and what it
/// allows.
struct OptionName: Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    /// Returns the error for a wrong value; its text is the option's name and the reason.
    func refusal(_ reason: String, _ code: ManagerError.Code = .invalidOption) -> ManagerError {
        ManagerError(code, "\(text) \(reason).")
    }

    /// Decodes a value; throws if it has another type.
    func read<Content: BusType>(_ value: Value) throws(ManagerError) -> Content {
        do throws(DecodingFailure) {
            return try Content(busValue: value)
        } catch {
            throw refusal("must be of type \(Content.signature), not \(value.signature)")
        }
    }

    /// Returns a number; throws if it is out of the range.
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
