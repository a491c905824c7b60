// SPDX-License-Identifier: Apache-2.0

import CGtk
import Glibc
import iDownView

/// The user's language: gettext(3), setlocale(3).
enum Translations {
    private static let domain = "idown-window"

    /// The sign before decimals.
    private(set) static var decimalSign = "."

    /// The folder of this program.
    static var programFolder: String? {
        guard let program = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(program) }
        return String(cString: dirname(program))
    }

    /// Applies the user's locale; the translations lie in `share/locale` beside the program's folder.
    static func adopt() {
        _ = setlocale(LC_ALL, "")
        if let sign = localeconv()?.pointee.decimal_point, sign.pointee != 0 {
            decimalSign = String(cString: sign)
        }
        if let folder = programFolder { bindtextdomain(domain, folder + "/../share/locale") }
        bind_textdomain_codeset(domain, "UTF-8")
    }

    /// Where there is no translation, gettext returns the text itself, which lives only as long as the
    /// call.
    static let wording = Wording(
        text: { text in
            text.withCString { plain in
                dgettext("idown-window", plain).map { String(cString: $0) } ?? text
            }
        },
        plural: { one, several, count in
            one.withCString { plainOne in
                several.withCString { plainSeveral in
                    dngettext("idown-window", plainOne, plainSeveral, count)
                        .map { String(cString: $0) } ?? several
                }
            }
        }
    )
}
