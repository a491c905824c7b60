// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// Whether output is colored.
struct ColorOption: ParsableArguments {
    enum When: String, CaseIterable, ExpressibleByArgument {
        /// On a terminal, unless NO_COLOR or CLICOLOR_FORCE say something else.
        case auto
        case always
        case never
    }

    @Option(
        help: ArgumentHelp(
            "When to use colors.",
            discussion: "auto follows NO_COLOR and CLICOLOR_FORCE."
        )
    )
    var color = When.auto

    func style(of terminal: Terminal) -> Style {
        switch color {
        case .auto: terminal.style
        case .always: Style(isColored: true)
        case .never: .plain
        }
    }
}
