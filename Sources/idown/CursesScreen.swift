// SPDX-License-Identifier: Apache-2.0

import CCurses
import Glibc
import iDownView

/// The terminal as ncurses sees it: ncurses(3).
///
/// ncurses is one screen a process and knows no threads: whoever has opened it uses it from one task
/// at a time and closes it at the end.
struct CursesScreen: ~Copyable {
    /// Why there is no screen.
    enum Failure: Error, CustomStringConvertible {
        case unknownTerminal
        /// Its cursor only goes on, as a typewriter's.
        case noCursor

        var description: String {
            let name = CellText(getenv("TERM").map { String(cString: $0) } ?? "")
            return switch self {
            case .unknownTerminal:
                "the terminal \(name) is not known here; set TERM, for example to xterm"
            case .noCursor:
                "the terminal \(name) cannot show a live list; there are: idown list, idown follow"
            }
        }
    }

    private let screen: OpaquePointer
    private let isColored: Bool
    /// ncurses writes in the set of characters of the user's locale.
    private let showsUnicode = UserLocale.showsUnicode
    private var pasted: String?
    /// How much of what was typed has been read, whether it came to a key or not.
    private(set) var reads = 0

    /// Takes the terminal over.
    ///
    /// - Parameters:
    ///   - isColored: Whether colours are wanted.
    ///   - usesMouse: Whether clicks and the wheel come here and not to the terminal.
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
        // How long an Esc may be the beginning of a key, in ms: enough for ssh.
        _ = set_escdelay(50)
        _ = curs_set(0)
        var colored = false
        if isColored, has_colors(), start_color() == OK {
            // The terminal's own background, light or dark.
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
        // What is pasted comes in brackets, so that no line of it is a command (xterm, "Bracketed
        // Paste Mode").
        _ = define_key("\u{1B}[200~", Self.pasteBegins)
        _ = define_key("\u{1B}[201~", Self.pasteEnds)
        TerminalRescue.arm()
        Self.send(TerminalRescue.pasteOn)
        Self.askForKeys()
    }

    /// Has the terminal send its keys as ncurses knows them.
    ///
    /// ncurses asks it to with the first look for a key and not before: whoever pressed an arrow as
    /// the first key of all would have it come as an Esc and two letters.
    private static func askForKeys() {
        var code = wint_t()
        let kind = get_wch(&code)
        guard kind != ERR else { return }
        // Typed ahead.
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
    /// Lines and cells.
    var size: (height: Int, width: Int) {
        let window = ccurses_screen()
        return (Int(getmaxy(window)), Int(getmaxx(window)))
    }

    /// Takes the terminal's new size: resizeterm(3).
    func resize() {
        guard let width = Terminal.output.width, let height = Terminal.output.height else { return }
        _ = resizeterm(CInt(height), CInt(width))
        _ = clearok(ccurses_screen(), true)
    }

    /// Asks for what ncurses does not know of, after the terminal was somebody else's.
    func regain() {
        Self.send(TerminalRescue.pasteOn)
        // Of a new size only those hear who have the terminal.
        resize()
    }

    /// Shows a frame; only what differs from the last one is sent.
    func draw(_ frame: ScreenFrame) {
        _ = erase()
        for (line, spans) in frame.lines.enumerated() {
            _ = move(CInt(line), 0)
            // A character that the terminal takes for wider than we do may have come over.
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
    /// The next key that has come; nil when there is none, for now.
    mutating func nextKey() -> ListScreen.Key? {
        while true {
            var code = wint_t()
            let kind = get_wch(&code)
            guard kind != ERR else { return nil }
            reads &+= 1
            if let key = kind == KEY_CODE_YES ? special(CInt(bitPattern: code)) : character(code) {
                return key
            }
        }
    }

    private mutating func special(_ code: CInt) -> ListScreen.Key? {
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
            // More than any URL may have is no paste of URLs.
            if pasted?.utf8.count ?? 0 < Self.longestPaste { pasted?.unicodeScalars.append(scalar) }
            return nil
        }
        switch code {
        case 0x0A, 0x0D: return .enter
        case 0x1B: return .escape
        case 0x08, 0x7F: return .backspace
        case 0x0C:
            // Ctrl-L: everything is sent anew.
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
