// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How the person at this terminal writes numbers and times: setlocale(3), localeconv(3).
enum UserLocale {
    /// Takes over what LC_ALL, LC_CTYPE, LC_NUMERIC, LC_TIME and LANG say; once, before all else.
    ///
    /// - Returns: The decimal sign.
    static func adopt() -> String {
        _ = setlocale(LC_ALL, "")
        // Where nobody has said what the terminal shows: the names of C and POSIX ask for ASCII, and
        // mean that nothing was chosen. Terminals of today show UTF-8, as in Python's PEP 538.
        if characterSet == "ANSI_X3.4-1968" { _ = setlocale(LC_CTYPE, "C.UTF-8") }
        guard let sign = localeconv()?.pointee.decimal_point else { return "." }
        let text = String(cString: sign)
        return text.isEmpty ? "." : text
    }

    /// The name of the terminal's set of characters: nl_langinfo(3).
    private static var characterSet: String {
        nl_langinfo(nl_item(CODESET)).map { String(cString: $0) } ?? ""
    }

    /// Whether everything can be shown on the terminal; ASCII alone where not.
    static var showsUnicode: Bool { characterSet.uppercased() == "UTF-8" }

    /// Whether times are written in a way of the user's own.
    static var hasTimeFormat: Bool {
        guard let name = setlocale(LC_TIME, nil) else { return false }
        return !["C", "POSIX", "C.UTF-8", "C.utf8"].contains(String(cString: name))
    }
}
