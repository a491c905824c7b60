// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// Whether output is coloured.
struct ColorOption: ParsableArguments {
    enum When: String, CaseIterable, ExpressibleByArgument {
        /// On a terminal, unless NO_COLOR or CLICOLOR_FORCE say otherwise.
        case auto
        case always
        case never
    }

    @Option(
        help: ArgumentHelp(
            "Colours: auto, always or never.",
            discussion: "auto heeds NO_COLOR and CLICOLOR_FORCE."
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
