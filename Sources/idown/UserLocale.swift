// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How the person at this terminal writes numbers and times: setlocale(3), localeconv(3).
enum UserLocale {
    /// Takes over what LC_ALL, LC_CTYPE, LC_NUMERIC, LC_TIME and LANG say; once, before all else.
    ///
    /// - Returns: The decimal sign.
    static func adopt() -> String {
        _ = setlocale(LC_ALL, "")
        guard let sign = localeconv()?.pointee.decimal_point else { return "." }
        let text = String(cString: sign)
        return text.isEmpty ? "." : text
    }

    /// Whether times are written in a way of the user's own.
    static var hasTimeFormat: Bool {
        guard let name = setlocale(LC_TIME, nil) else { return false }
        return !["C", "POSIX", "C.UTF-8", "C.utf8"].contains(String(cString: name))
    }
}
