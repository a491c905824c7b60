// SPDX-License-Identifier: Apache-2.0

import CGtk
import Glibc
import iDownBus
import iDownSettings
import iDownView

/// The dialog that adds downloads: a text with links, one in a line, and a form for their options.
///
/// It shows the name and the size of each file before the links are added. Some links work only
/// once, and most of those have a query: the dialog asks the server about a link with a query only
/// when the user presses Look Up.
final class AddDialog {
    private let client: ManagerClient
    private let tasks: TaskActions
    private let dialog: Dialog
    private let form: OptionsForm
    private let field = Object(
        gtk_text_view_get_type(),
        [
            "wrap-mode": .choice(GTK_WRAP_CHAR), "accepts-tab": false, "top-margin": 8,
            "bottom-margin": 8, "left-margin": 8, "right-margin": 8, "monospace": true,
        ]
    )
    private let facts = Object.label(classes: ["dim-label"], ["wrap": true, "hexpand": true])
    private let lookUp = Object.textButton(translated("Look Up"))
    private let paused = Object(gtk_switch_get_type(), ["valign": .choice(GTK_ALIGN_CENTER)])
    private var links = LinkText("")
    private let probes: LinkProbes
    /// The links that the user has asked to look up although they have a query.
    private var wanted: Set<String> = []
    private var reading: Task<Void, Never>?
    private var parsing: Task<Void, Never>?
    /// Why lists in files are not taken, by the path of the file.
    private var refusals: [String: ListRefusal] = [:]
    private var usualFolder: String?
    /// The part of each call's token that names this dialog, so that adding the same links again
    /// after an error makes no second download.
    private let token = String.unique

    /// A text of this many bytes is read in about 10 ms.
    private static let longText = 64 << 10
    /// Servers are asked about this many links only, from the first on: a list may have thousands.
    private static let mostShown = 50

    init(_ client: ManagerClient, _ tasks: TaskActions, over window: Object, text: String) {
        self.client = client
        self.tasks = tasks
        probes = LinkProbes(client)
        let row = Object(
            adw_action_row_get_type(),
            ["title": .text(translated("Add Without Starting"))]
        )
        adw_action_row_add_suffix(row.to(), paused.widget)
        adw_action_row_set_activatable_widget(row.to(), paused.widget)
        let scrolled = Object.scrolled(field).adding(["card"])
        scrolled.set("min-content-height", 110)
        scrolled.set("vexpand", false)
        field.named(translated("Links, one in a line"))
        let choose = Object.iconButton("document-open-symbolic", translated("Add From Files"))
            .adding(["flat"])
        form = OptionsForm(over: window)
        let start = Object(adw_preferences_group_get_type())
        adw_preferences_group_add(start.to(), row.widget)
        dialog = Dialog(
            over: window,
            title: translated("Add Downloads"),
            button: translated("Add"),
            [
                .box([
                    .label(
                        translated("Links, one in a line"),
                        classes: ["heading"],
                        ["hexpand": true]
                    ), choose,
                ]), tasks.pulse.banner(), scrolled, .box(spacing: 12, [facts, lookUp]),
                form.box, start,
            ]
        )
        listen(to: choose)
        read()
        append(text)
        showUsualFolder()
    }

    private func listen(to choose: Object) {
        dialog.accepted = {
            self.tasks.pulse.check()
            await self.add()
        }
        dialog.complainAfterwards = { [weak tasks = self.tasks] in tasks?.say($0) }
        dialog.object.on("destroy") { _ in self.probes.stop() }
        buffer.on("changed") { _ in self.read() }
        form.changed = { [weak self] in
            self?.judge()
            self?.ask()
        }
        lookUp.set("valign", .choice(GTK_ALIGN_START))
        lookUp.set(
            "tooltip-text",
            .text(
                translated(
                    "Asks the server for names and sizes. This uses up links that work only once."
                )
            )
        )
        lookUp.on("clicked") { [weak self] _ in
            guard let self else { return }
            self.wanted.formUnion(self.links.links)
            self.showFacts()
            self.ask()
        }
        probes.changed = { [weak self] in self?.showFacts() }
        choose.on("clicked") { _ in self.chooseFiles() }
    }

    /// Fills in the service's folder for downloads, unless the user was faster.
    private func showUsualFolder() {
        Task {
            let content = try? await client.value(of: .downloadDirectory)
            guard case .text(let folder?) = content else { return }
            guard !dialog.isClosed, form.directory.isEmpty else { return }
            usualFolder = folder
            form.directory = folder
        }
    }

    func present() {
        dialog.present()
        gtk_widget_grab_focus(field.widget)
    }

    private var buffer: Object { Object(gtk_text_view_get_buffer(field.to())) }

    /// Appends lines to the text.
    func append(_ text: String) {
        let old = buffer.text("text")
        let isWhole = old.isEmpty || old.hasSuffix("\n")
        buffer.set("text", .text(old + (isWhole ? "" : "\n") + text))
        takeLists()
    }

    private func chooseFiles() {
        FileChooser.choose(
            translated("Metalinks and Lists of Links"),
            GTK_FILE_CHOOSER_ACTION_OPEN,
            over: dialog.object
        ) { paths in
            if !self.dialog.isClosed { self.append(paths.joined(separator: "\n")) }
        }
    }

    /// Reads the text at once, or a long one off the main thread, when the user stops typing.
    private func read() {
        reading?.cancel()
        parsing?.cancel()
        parsing = nil
        let text = buffer.text("text")
        guard text.utf8.count > Self.longText else {
            return take(LinkText(text, leavingWords: true))
        }
        dialog.allow(false)
        parsing = Task {
            try? await Task.sleep(for: LinkProbes.typingPause)
            guard !Task.isCancelled else { return }
            let links = await Self.links(in: text)
            if !Task.isCancelled, !dialog.isClosed { take(links) }
        }
    }

    @concurrent
    private nonisolated static func links(in text: String) async -> LinkText {
        LinkText(text, leavingWords: true)
    }

    private func take(_ links: LinkText) {
        parsing = nil
        self.links = links
        form.allowNames(links.count <= 1)
        judge()
        showFacts()
        ask()
        // Waits, because a path that is half typed may already name another file.
        takeLists(after: LinkProbes.typingPause)
    }

    /// Replaces each line that names a list file with the links in that file.
    private func takeLists(after pause: Duration = .zero) {
        reading?.cancel()
        guard !links.files.isEmpty else { return }
        let files = links.files
        reading = Task {
            var lists: [Int: String] = [:]
            var refusals: [String: ListRefusal] = [:]
            try? await Task.sleep(for: pause)
            for (line, path) in files {
                do throws(ListRefusal) {
                    lists[line] = try await LinkList.read(path)
                } catch {
                    refusals[path] = error
                }
            }
            guard !Task.isCancelled, !dialog.isClosed else { return }
            self.refusals = refusals
            guard !lists.isEmpty else { return judge() }
            let lines = buffer.text("text").split(
                omittingEmptySubsequences: false,
                whereSeparator: \.isNewline
            ).enumerated().map { lists[$0 + 1] ?? String($1) }
            buffer.set("text", .text(lines.joined(separator: "\n")))
        }
    }

    private var questions: [LinkProbes.Question] {
        let options = form.values
        return links.links.prefix(Self.mostShown).enumerated().map { place, link in
            LinkProbes.Question(link, links.options(ofLink: place, with: options))
        }
    }

    private func ask() {
        let allowed = links.mistakes.isEmpty ? questions.filter(isAllowed) : []
        if !allowed.isEmpty { tasks.pulse.check() }
        probes.ask(allowed)
    }

    private func isAllowed(_ question: LinkProbes.Question) -> Bool {
        !question.link.contains("?") || wanted.contains(question.link)
    }

    /// Shows the number of links, and the name and the size of each file that is known.
    private func showFacts() {
        guard !dialog.isClosed else { return }
        var lines: [String] = []
        let count = links.count
        if count > 1 || count > links.links.count {
            lines.append(counted("{count} link", "{count} links", UInt(count)))
        }
        var mayBeLookedUp = false
        if links.mistakes.isEmpty {
            let questions = questions
            let answers = questions.map { probes.answers[$0] }
            for (answer, line) in zip(answers, links.lines) {
                guard let answer else { continue }
                lines.append(count == 1 ? answer : Self.text(answer, ofLine: line))
            }
            let rest = questions.filter { probes.answers[$0] == nil }
            if rest.contains(where: isAllowed) { lines.append(translated("Asking the server…")) }
            mayBeLookedUp = !rest.allSatisfy(isAllowed)
        }
        lookUp.set("visible", .flag(mayBeLookedUp))
        facts.set("label", .text(lines.joined(separator: "\n")))
    }

    private static func text(_ text: String, ofLine line: Int) -> String {
        translated("Line {line}: {text}", ["line": "\(line)", "text": text])
    }

    private func judge() {
        let mistakes = links.mistakes.prefix(3).map { mistake in
            guard let path = links.files[mistake.line], let refusal = refusals[path] else {
                return mistake.text
            }
            return refusal.text(of: path)
        }
        dialog.complain(mistakes.joined(separator: "\n"))
        field.setInvalid(!mistakes.isEmpty)
        let isRead = parsing == nil && links.count > 0
        dialog.allow(isRead && mistakes.isEmpty && form.isValid)
    }

    private func add() async {
        var options = form.values
        if options.directory == usualFolder { options.directory = nil }
        if paused.flag("active") { options.paused = true }
        let (links, before) = (links, Self.lines(of: buffer))
        var ids: [String] = []
        var metalinks = links.metalinks[...]
        do throws(ManagerError) {
            let newest = try await newestDownload()
            if links.hasOptions {
                let downloads = links.links.enumerated().map { place, link in
                    let own = links.options(ofLink: place, with: options, below: usualFolder)
                    return NewDownload(link, options: mark(own, [link]))
                }
                ids += try await client.addMany(downloads)
                for (id, download) in zip(ids, downloads) {
                    try await give(download.options, to: [id], upTo: newest)
                }
            } else if let link = links.links.first, links.links.count == 1 {
                ids.append(try await client.addURL(link, options: mark(options, [link])))
            } else if !links.links.isEmpty {
                let marked = mark(options, links.links)
                ids += try await client.addURLs(links.links, options: marked)
            }
            while let path = metalinks.first {
                let marked = mark(options, [path])
                ids += try await client.addMetalink(at: path, options: marked)
                metalinks.removeFirst()
            }
            if !links.hasOptions { try await give(options, to: ids, upTo: newest) }
            tasks.tellAdded(ids)
            guard !dialog.isClosed else { return }
            keep([], before)
            if Self.lines(of: buffer).isEmpty { dialog.close() }
        } catch {
            if !ids.isEmpty {
                tasks.tellAdded(ids)
                if !dialog.isClosed { keep(metalinks, before) }
            }
            dialog.refuse(Self.words(of: error, links))
        }
    }

    /// The number of the newest download of the list.
    private func newestDownload() async throws(ManagerError) -> UInt64 {
        var query = TaskQuery()
        (query.descending, query.limit, query.properties) = (true, 1, [.id])
        return try await client.findTasks(query).page.first.flatMap { UInt64($0.id) } ?? 0
    }

    /// Gives options to those of the downloads that were in the list before: a call that continues a
    /// download ignores them.
    private func give(
        _ options: AddOptions,
        to ids: [String],
        upTo newest: UInt64
    ) async throws(ManagerError) {
        let edit = EditOptions(of: options)
        guard !edit.dictionary.isEmpty else { return }
        for id in ids where UInt64(id).map({ $0 <= newest }) == true {
            let task = try await client.getTasks([id], of: [.headerNames]).first
            try await client.setOptions(task.map(edit.keepingHeaders) ?? edit, of: id)
        }
    }

    private static func lines(of buffer: Object) -> [Substring] {
        buffer.text("text").split(whereSeparator: \.isNewline)
    }

    /// Takes away the lines that were added, but for metalinks that were refused.
    private func keep(_ metalinks: ArraySlice<String>, _ before: [Substring]) {
        var added = Dictionary(before.map { ($0, 1) }, uniquingKeysWith: +)
        let typed = Self.lines(of: buffer).filter { line in
            added[line, default: 0] -= 1
            return added[line, default: 0] < 0
        }
        buffer.set("text", .text((metalinks + typed.map(String.init)).joined(separator: "\n")))
    }

    /// Returns the options with a token that is the same for the same links and options, so that
    /// the service adds them only once.
    private func mark(_ options: AddOptions, _ links: [String]) -> AddOptions {
        var hasher = Hasher()
        hasher.combine(options)
        hasher.combine(links)
        var marked = options
        marked.token = "\(token) \(hasher.finalize())"
        return marked
    }

    /// Returns the error's text; if the service names a link by its place, the text names its line.
    private static func words(of error: ManagerError, _ links: LinkText) -> String {
        guard let start = ["URL ", "task "].first(where: error.message.hasPrefix),
            let end = error.message.firstRange(of: ": "),
            let place = Int(error.message[..<end.lowerBound].dropFirst(start.count)),
            links.lines.indices.contains(place - 1)
        else { return error.text }
        let named = error.text == error.message
        let text = named ? String(error.message[end.upperBound...]) : error.text
        return Self.text(text, ofLine: links.lines[place - 1])
    }
}

/// A file with links, as `idown add --input-file` reads it.
private nonisolated enum LinkList {
    /// The most bytes of a list; a longer file is not taken.
    private static let longest = 1 << 20

    /// Returns the links of a file, one in a line, each with its options in the lines below it; nil
    /// for a file that is not a list or cannot be read.
    ///
    /// - Throws: Why the links of a list are not taken.
    @concurrent
    static func read(_ path: String) async throws(ListRefusal) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: longest) { buffer, count in
            count = max(0, Glibc.read(file, buffer.baseAddress, longest))
        }
        // A longer file that is no text, such as a film, is no list.
        guard facts.st_size <= longest else {
            if bytes.contains(0) { return nil }
            throw .tooLong(UInt64(longest))
        }
        // Some editors write a byte order mark.
        let mark = Array("\u{FEFF}".utf8)
        let content = bytes.starts(with: mark) ? bytes[mark.count...] : bytes[...]
        guard let text = String(validating: content, as: UTF8.self), !bytes.contains(0) else {
            return nil
        }
        let links = try DownloadList.whole(text)
        // A list that names files is refused, because it could name itself.
        return LinkText(links).files.isEmpty ? links : nil
    }
}
