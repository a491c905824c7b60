// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The user's locale, which decides how numbers and times are shown: setlocale(3), localeconv(3).
enum UserLocale {
    /// Applies LC_ALL, LC_CTYPE, LC_NUMERIC, LC_TIME and LANG, and returns the decimal sign.
    ///
    /// The program calls this once, before anything else.
    static func adopt() -> String {
        _ = setlocale(LC_ALL, "")
        // The locales C and POSIX ask for ASCII, but in practice mean that no locale was chosen.
        // Today's terminals show UTF-8, so it is assumed then, as Python does (PEP 538).
        if characterSet == "ANSI_X3.4-1968" { _ = setlocale(LC_CTYPE, "C.UTF-8") }
        guard let sign = localeconv()?.pointee.decimal_point else { return "." }
        let text = String(cString: sign)
        return text.isEmpty ? "." : text
    }

    /// The name of the terminal's character set: nl_langinfo(3).
    private static var characterSet: String {
        nl_langinfo(nl_item(CODESET)).map { String(cString: $0) } ?? ""
    }

    /// Whether the terminal shows all of Unicode; if not, it shows only ASCII.
    static var showsUnicode: Bool { characterSet.uppercased() == "UTF-8" }

    /// Whether the user chose a locale for times.
    fileprivate static var hasTimeFormat: Bool {
        guard let name = setlocale(LC_TIME, nil) else { return false }
        return !["C", "POSIX", "C.UTF-8", "C.utf8"].contains(String(cString: name))
    }
}

/// Times on the user's clock: localtime_r(3), strftime(3).
enum LocalTime {
    /// Returns the local time as text, in the locale's format.
    ///
    /// - Parameter microseconds: µs since the epoch.
    /// - Returns: The text; empty if the time has no date.
    static func text(_ microseconds: UInt64) -> String {
        // Without a locale the ISO 8601 order is the one that readers everywhere understand.
        text(microseconds, format: UserLocale.hasTimeFormat ? "%x %X" : "%Y-%m-%d %H:%M:%S")
    }

    /// Returns the local time to the millisecond, in the order of ISO 8601.
    static func precise(_ microseconds: UInt64) -> String {
        let milliseconds = String(microseconds / 1000 % 1000)
        return text(microseconds, format: "%Y-%m-%d %H:%M:%S.")
            + String(repeating: "0", count: 3 - milliseconds.count) + milliseconds
    }

    private static func text(_ microseconds: UInt64, format: String) -> String {
        var seconds = time_t(microseconds / 1_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "" }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let text = buffer.baseAddress,
                strftime(text, buffer.count, format, &parts) > 0
            else { return "" }
            return String(cString: text)
        }
    }
}
