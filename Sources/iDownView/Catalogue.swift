// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The translations and number signs of the user's locale: newlocale(3), gettext(3).
///
/// The locale is in force during each look-up only: what libraries read, write and report does not
/// depend on the user's language.
package struct Catalogue: Sendable {
    /// The translations.
    package let wording: Wording
    /// The sign before decimals.
    package let decimalSign: String

    /// The folder of this program.
    package static var programFolder: String? {
        guard let program = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(program) }
        return String(cString: dirname(program))
    }

    /// Opens the translations in `share/locale` beside the program's folder; in that of the system if
    /// there is none.
    package init() {
        guard let locale = newlocale(CLINUX_LC_ALL_MASK, "", nil) else {
            (wording, decimalSign) = (.current, ".")
            return
        }
        let folder = Self.programFolder.map { $0 + "/../share/locale" }
        if let folder, access(folder, F_OK) == 0 { bindtextdomain("idown", folder) }
        bind_textdomain_codeset("idown", "UTF-8")
        // Never changed and never freed, so that all threads may use it.
        nonisolated(unsafe) let used = locale
        @Sendable func inLocale<Answer>(_ body: () -> Answer) -> Answer {
            let before = uselocale(used)
            defer { uselocale(before) }
            return body()
        }
        let signs = inLocale { () -> (decimal: String, group: String) in
            guard let signs = localeconv()?.pointee else { return (".", "") }
            let isByThousands = signs.grouping.pointee == 3
            return (
                String(cString: signs.decimal_point),
                isByThousands ? String(cString: signs.thousands_sep) : ""
            )
        }
        decimalSign = signs.decimal.isEmpty ? "." : signs.decimal
        wording = Wording(
            text: { text in
                // Where there is no translation, gettext returns the text itself, which lives only as
                // long as the call.
                text.withCString { text in inLocale { String(cString: dgettext("idown", text)) } }
            },
            plural: { one, several, count in
                one.withCString { one in
                    several.withCString { several in
                        inLocale { String(cString: dngettext("idown", one, several, count)) }
                    }
                }
            },
            groupSign: signs.group,
            // The translation of the empty text is the head of the catalogue.
            isEnglish: inLocale { String(cString: dgettext("idown", "")) }.isEmpty
        )
    }
}
