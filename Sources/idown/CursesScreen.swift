// SPDX-License-Identifier: Apache-2.0

import CCurses
import Glibc
import iDownView

/// The terminal by way of ncurses(3).
///
/// ncurses has one screen per process and no locks: use the screen from one task at a time, and close
/// it at the end.
struct CursesScreen: ~Copyable {
    /// Why the live list cannot be shown.
    enum Failure: Error, CustomStringConvertible {
        case unknownTerminal
        /// The terminal cannot move its cursor.
        case noCursor

        var description: String {
            let name = CellText(getenv("TERM").map { String(cString: $0) } ?? "")
            return switch self {
            case .unknownTerminal:
                "the terminal type \(name) is not known; set TERM to another one, for example xterm"
            case .noCursor:
                "the terminal type \(name) cannot show a live list; use idown list or idown follow"
            }
        }
    }

    private let screen: OpaquePointer
    private let isColored: Bool
    /// ncurses writes in the character set of the user's locale.
    private let showsUnicode = UserLocale.showsUnicode
    private var pasted: String?
    /// What has followed an Esc, and when its last character came; nil outside of a sequence.
    private var sequence: (text: EscapeSequence, time: ContinuousClock.Instant)?
    /// How many reads gave input, whether or not a key came of it.
    private(set) var reads = 0

    /// Takes the terminal over.
    ///
    /// - Parameters:
    ///   - isColored: Whether colours are wanted.
    ///   - usesMouse: Whether clicks and the wheel go to the list instead of the terminal.
    /// - Throws: ``Failure``.
    init(isColored: Bool, usesMouse: Bool) throws(Failure) {
        guard let screen = ccurses_open() else { throw .unknownTerminal }
        _ = set_term(screen)
        guard ccurses_capability("cup") != nil else {
            _ = endwin()
            delscreen(screen)
            throw .noCursor
        }
        self.screen = screen
        _ = cbreak()
        _ = noecho()
        _ = nonl()
        let window = ccurses_screen()
        _ = keypad(window, true)
        _ = nodelay(window, true)
        _ = intrflush(window, false)
        // How long an Esc may begin a longer key, in ms: enough for ssh.
        _ = set_escdelay(50)
        _ = curs_set(0)
        var colored = false
        if isColored, has_colors(), start_color() == OK {
            // Keeps the terminal's own background, light or dark.
            _ = use_default_colors()
            for (pair, color) in Self.pairs { _ = init_pair(pair, color, -1) }
            colored = true
        }
        self.isColored = colored
        if usesMouse {
            let events =
                CCURSES_CLICK | CCURSES_DOUBLE_CLICK | CCURSES_WHEEL_UP | CCURSES_WHEEL_DOWN
            _ = mousemask(mmask_t(events), nil)
        }
        // A paste comes in brackets, so that its characters are not taken for commands (xterm,
        // "Bracketed Paste Mode").
        _ = define_key("\u{1B}[200~", Self.pasteBegins)
        _ = define_key("\u{1B}[201~", Self.pasteEnds)
        TerminalRescue.arm()
        Self.send(TerminalRescue.pasteOn)
        Self.askForKeys()
    }

    /// Makes the terminal send keys in the form that ncurses expects.
    ///
    /// ncurses does that when it first looks for a key. Without this call an arrow as the very first
    /// key would arrive as an Esc and two letters.
    private static func askForKeys() {
        var code = wint_t()
        let kind = get_wch(&code)
        guard kind != ERR else { return }
        // The user has typed already: put the key back.
        _ =
            kind == KEY_CODE_YES
            ? ungetch(CInt(bitPattern: code)) : unget_wch(wchar_t(bitPattern: code))
    }

    /// Gives the terminal back as it was.
    consuming func close() {
        Self.send(TerminalRescue.pasteOff)
        _ = endwin()
        delscreen(screen)
        discard()
    }

    private consuming func discard() {}

    private static let pasteBegins: CInt = 0o1000
    private static let pasteEnds: CInt = 0o1001

    private static let pairs: [(CShort, CShort)] = [
        (1, CShort(COLOR_GREEN)), (2, CShort(COLOR_BLUE)), (3, CShort(COLOR_RED)),
    ]

    private static func send(_ text: StaticString) {
        _ = fflush(nil)
        _ = write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    }
}

// Drawing.
extension CursesScreen {
    /// The lines of the screen, and the cells of a line.
    var size: (height: Int, width: Int) {
        let window = ccurses_screen()
        return (Int(getmaxy(window)), Int(getmaxx(window)))
    }

    /// Takes over the terminal's new size: resizeterm(3).
    func resize() {
        guard let width = Terminal.output.width, let height = Terminal.output.height else { return }
        _ = resizeterm(CInt(height), CInt(width))
        _ = clearok(ccurses_screen(), true)
    }

    /// Sets up again the modes that ncurses does not manage, after another program used the
    /// terminal.
    func regain() {
        Self.send(TerminalRescue.pasteOn)
        // A process in the background is not told of a new size.
        resize()
    }

    /// Shows a frame; only the differences from the last one are sent.
    func draw(_ frame: ScreenFrame) {
        // A shell that was in front meanwhile may have switched it off, and a frame may come before
        // the news that the process runs again.
        Self.send(TerminalRescue.pasteOn)
        _ = erase()
        for (line, spans) in frame.lines.enumerated() {
            _ = move(CInt(line), 0)
            // Covers what a character left that the terminal draws wider than ncurses counts.
            _ = clrtoeol()
            for span in spans {
                _ = attrset(CInt(bitPattern: attributes(span)))
                let text = showsUnicode ? span.text : ASCIIText(span.text).description
                _ = mvaddstr(CInt(line), CInt(span.column), text)
            }
        }
        _ = attrset(0)
        if let typing = frame.typing {
            _ = move(CInt(typing.line), CInt(typing.column))
            _ = curs_set(1)
        } else {
            _ = curs_set(0)
        }
        _ = refresh()
    }

    private func attributes(_ span: ScreenFrame.Span) -> UInt32 {
        let ink: UInt32 =
            switch span.ink {
            case .plain: 0
            case .bold: CCURSES_BOLD
            case .dim: CCURSES_DIM
            case .green: isColored ? ccurses_pair(1) : 0
            case .blue: isColored ? ccurses_pair(2) : 0
            case .red: isColored ? ccurses_pair(3) : CCURSES_BOLD
            }
        return span.isReversed ? ink | CCURSES_REVERSE : ink
    }
}

// Keys.
extension CursesScreen {
    /// Returns the next key; nil if none has come yet.
    mutating func nextKey() -> ListScreen.Key? {
        if let sequence, .now - sequence.time > Self.longestPause { self.sequence = nil }
        while true {
            var code = wint_t()
            let kind = get_wch(&code)
            guard kind != ERR else {
                // ncurses has waited for what may follow an Esc.
                guard sequence?.text.isAlone == true else { return nil }
                sequence = nil
                return .escape
            }
            reads &+= 1
            if kind == KEY_CODE_YES, sequence?.text.isAlone == true {
                // An Esc, and right after it a key of several characters.
                sequence = nil
                _ = ungetch(CInt(bitPattern: code))
                return .escape
            }
            if let key = kind == KEY_CODE_YES ? special(CInt(bitPattern: code)) : character(code) {
                return key
            }
        }
    }

    /// The longest pause within a sequence: it is shorter than a person takes between two keys, of
    /// which the first looks like the beginning of one.
    private static let longestPause: Duration = .milliseconds(150)

    private mutating func special(_ code: CInt) -> ListScreen.Key? {
        sequence = nil
        switch code {
        case Self.pasteBegins:
            pasted = ""
            return nil
        case Self.pasteEnds:
            defer { pasted = nil }
            return pasted.map { .paste($0) }
        case KEY_UP: return .up
        case KEY_DOWN: return .down
        case KEY_PPAGE: return .pageUp
        case KEY_NPAGE: return .pageDown
        case KEY_HOME: return .home
        case KEY_END: return .end
        case KEY_ENTER: return .enter
        case KEY_BACKSPACE: return .backspace
        case KEY_DC: return .delete
        case KEY_MOUSE: return mouse()
        default: return nil
        }
    }

    private mutating func character(_ code: wint_t) -> ListScreen.Key? {
        guard let scalar = Unicode.Scalar(code) else { return nil }
        if pasted != nil {
            // A paste of URLs is shorter than this; the rest is dropped.
            if pasted?.utf8.count ?? 0 < Self.longestPaste { pasted?.unicodeScalars.append(scalar) }
            return nil
        }
        if var text = sequence?.text {
            sequence = text.ends(with: scalar) ? nil : (text, .now)
            return nil
        }
        switch code {
        case 0x0A, 0x0D: return .enter
        case 0x1B:
            sequence = (EscapeSequence(), .now)
            return nil
        case 0x08, 0x7F: return .backspace
        case 0x15: return .deleteAll
        case 0x17: return .deleteWord
        case 0x0C:
            // Ctrl-L draws the whole screen again.
            _ = clearok(ccurses_screen(), true)
            return nil
        case ..<0x20: return nil
        default: return .character(Character(scalar))
        }
    }

    private static let longestPaste = 1 << 20

    private func mouse() -> ListScreen.Key? {
        var event = MEVENT()
        guard getmouse(&event) == OK else { return nil }
        let buttons = UInt32(event.bstate)
        if buttons & CCURSES_DOUBLE_CLICK != 0 { return .doubleClick(Int(event.y)) }
        if buttons & CCURSES_CLICK != 0 { return .click(Int(event.y)) }
        if buttons & CCURSES_WHEEL_UP != 0 { return .wheel(-3) }
        if buttons & CCURSES_WHEEL_DOWN != 0 { return .wheel(3) }
        return nil
    }
}
