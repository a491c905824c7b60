// SPDX-License-Identifier: Apache-2.0

import CGtk
import DBus
import Glibc
import iDownBus
import iDownView

/// The program `idown-window`: one window of the application `org.idown.Window`.
package enum WindowApplication {
    static let id = "org.idown.Window"
    private static var window: MainWindow?
    private static var isOpening = false
    /// Whether the user asked for a window while the last one was still closing.
    private static var isWantedAgain = false
    /// The links of command lines, until a window can offer them.
    private static var links: [String] = []

    /// Runs until the window is closed.
    ///
    /// - Returns: The exit code.
    package static func run() -> CInt {
        // GTK takes its language and date formats from the locale.
        _ = setlocale(LC_ALL, "")
        leaveGLOut()
        let catalogue = Catalogue()
        return ByteCount.$decimalSign.withValue(catalogue.decimalSign) {
            Wording.$current.withValue(catalogue.wording) { runLoop() }
        }
    }

    /// Keeps GTK from loading 8 MB of OpenGL drivers if GSK_RENDERER makes it draw with cairo.
    private static func leaveGLOut() {
        guard let renderer = getenv("GSK_RENDERER"), strcmp(renderer, "cairo") == 0 else { return }
        setenv("GDK_DEBUG", "gl-disable", 0)
    }

    private static func runLoop() -> CInt {
        MainLoop.join()
        g_set_prgname("idown-window")
        g_set_application_name("idown")
        let application = Object(adw_application_new(id, G_APPLICATION_HANDLES_COMMAND_LINE))
        // The connection opens while GTK starts.
        let connection = Task { try await Connection.open(.session) }
        addOptions(application)
        application.on("startup") { _ in
            Style.load()
            addActions(application)
        }
        // The command line of each start: the program's name, then links to add.
        application.answer("command-line") { arguments in
            var count: gint = 0
            let line = arguments.object(1)
            let words = g_application_command_line_get_arguments(line.to(), &count)
            defer { g_strfreev(words) }
            for place in 1..<max(1, Int(count)) {
                if let word = words?[place] { links.append(String(cString: word)) }
            }
            g_application_activate(application.to())
            return 0
        }
        application.on("activate") { _ in
            if let window {
                // The program is ending; it starts itself again after its end.
                guard !window.isClosing else {
                    isWantedAgain = true
                    return
                }
                window.present()
                return offerLinks(in: window)
            }
            guard !isOpening else { return }
            isOpening = true
            g_application_hold(application.to())
            Task {
                do throws(BusError) {
                    let window = MainWindow(application, try await open(connection))
                    self.window = window
                    window.appear()
                    offerLinks(in: window)
                } catch {
                    complain("there is no session bus here: \(error.message)")
                    g_application_quit(application.to())
                }
                g_application_release(application.to())
            }
        }
        let code = g_application_run(application.to(), CommandLine.argc, CommandLine.unsafeArgv)
        application.drop()
        if isWantedAgain { startAnew() }
        return code
    }

    /// Lets GLib answer `--help`, and refuse options that are not known: without an option of its own
    /// the application would get every word as a link.
    private static func addOptions(_ application: Object) {
        g_application_set_option_context_parameter_string(application.to(), "[URL…]")
        g_application_add_main_option(
            application.to(),
            "version",
            0,
            G_OPTION_FLAG_NONE,
            G_OPTION_ARG_NONE,
            translated("Show the version"),
            nil
        )
        application.answer("handle-local-options") { arguments in
            guard g_variant_dict_contains(arguments.boxed(1), "version") == 0 else {
                print("idown-window \(Contract.version)")
                return 0
            }
            // Desktops find the launcher of a window by this name; the help showed the program's.
            g_set_prgname(id)
            return -1
        }
    }

    /// Opens the dialog with the links of the command line, if there are any.
    private static func offerLinks(in window: MainWindow) {
        guard !links.isEmpty else { return }
        window.present()
        window.openAddDialog(links.joined(separator: "\n"))
        links = []
    }

    /// Replaces this process with a new run of the program: execv(3).
    private static func startAnew() {
        var words = (["idown-window"] + links).map { strdup($0) } + [nil]
        execv("/proc/self/exe", &words)
    }

    /// Writes a line to standard error.
    private static func complain(_ text: String) {
        let line = "idown-window: \(text)\n"
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }

    private static func open(
        _ connection: Task<Connection, any Error>
    ) async throws(BusError) -> Connection {
        switch await connection.result {
        case .success(let connection): return connection
        case .failure(let error as BusError): throw error
        case .failure: throw BusError("org.freedesktop.DBus.Error.NoServer", "")
        }
    }

    private static func addActions(_ application: Object) {
        let actions = Actions(map: application)
        actions.add("preferences") { window?.openPreferences() }
        actions.add("shortcuts") { window?.openShortcuts() }
        actions.add("about") { window?.openAbout() }
        actions.add("quit") { window.map { gtk_window_close($0.object.to()) } }
        for (action, key) in keys {
            var names = [strdup(key), nil]
            names.withUnsafeMutableBufferPointer { names in
                names.withMemoryRebound(to: UnsafePointer<CChar>?.self) { names in
                    gtk_application_set_accels_for_action(
                        application.to(),
                        action,
                        names.baseAddress
                    )
                }
            }
            free(names[0])
        }
    }

    /// Keys that work wherever the focus is.
    ///
    /// The list binds the keys for rows.
    static let keys = [
        ("win.add", "<Control>n"), ("win.search", "<Control>f"), ("win.start-all", "<Control>r"),
        ("win.pause-all", "<Control>p"), ("win.details", "F9"),
        ("app.preferences", "<Control>comma"),
        ("app.shortcuts", "<Control>question"), ("app.quit", "<Control>q"),
        ("window.close", "<Control>w"),
    ]
}

/// The style sheet: the colours of the bars, and styles for which the theme has no class.
private enum Style {
    static func load() {
        let provider = Object(gtk_css_provider_new())
        gtk_css_provider_load_from_data(provider.to(), sheet, -1)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(),
            provider.opaque,
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION)
        )
    }

    private static let sheet = """
        .downloads > row { padding: 4px 12px; }
        .downloads label { font-feature-settings: "tnum"; }
        .download progressbar > trough > progress { background-color: @light_5; }
        .download.running progressbar > trough > progress { background-color: @green_4; }
        .download.paused progressbar > trough > progress { background-color: @blue_3; }
        .download.failed progressbar > trough > progress { background-color: @red_4; }
        .download.failed stack label { color: @error_color; }
        .download.leaving, .download.cancelled { opacity: 0.55; }
        .download progressbar > trough { min-width: 40px; }
        .titles { padding: 0 12px 0 40px; border-bottom: 1px solid @borders; }
        .titles:dir(rtl) { padding: 0 40px 0 12px; }
        .titles button.column { padding: 2px 0; min-height: 20px; font-weight: normal; }
        .chip { border-radius: 99px; padding: 2px 10px; min-height: 24px; }
        .banner { background-color: @warning_bg_color; color: @warning_fg_color; padding: 6px; }
        .message { border-radius: 12px; padding: 6px 6px 6px 12px; }
        /* Above the tabs, which are at the bottom of a narrow window. */
        .preferences toast { margin-bottom: 72px; }
        .mistake { color: @error_color; }
        """
}
