// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownSettings
import iDownView

/// Adds downloads: links in lines, and how they are to be downloaded.
///
/// What a single link leads to is shown before it is added.
final class AddDialog {
    private let client: ManagerClient
    private let tasks: TaskActions
    private let dialog: Dialog
    private let form: OptionsForm
    private let field = Object(
        gtk_text_view_get_type(),
        [
            "wrap-mode": 1, "accepts-tab": false, "top-margin": 8, "bottom-margin": 8,
            "left-margin": 8, "right-margin": 8, "monospace": true,
        ]
    )
    private let facts = Object.label(classes: ["dim-label"], ["wrap": true])
    private let paused = Object(gtk_switch_get_type(), ["valign": 3])
    private var links = LinkText("")
    private var probe: Task<Void, Never>?
    /// What the server has said last, and of which link.
    private var probed: (link: String, answer: String)?
    private var usualFolder: String?

    /// Typing pauses for this long before the server is asked.
    private static let patience: Duration = .milliseconds(600)

    init(_ client: ManagerClient, _ tasks: TaskActions, over window: Object, text: String) {
        self.client = client
        self.tasks = tasks
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
        form = OptionsForm(over: window)
        let start = Object(adw_preferences_group_get_type())
        adw_preferences_group_add(start.to(), row.widget)
        dialog = Dialog(
            over: window,
            title: translated("Add Downloads"),
            button: translated("Add"),
            [
                .label(translated("Links, one in a line"), classes: ["heading"]), scrolled, facts,
                form.box, start,
            ]
        )
        let buffer = Object(gtk_text_view_get_buffer(field.to()))
        dialog.accepted = { self.add() }
        buffer.on("changed") { _ in self.read() }
        form.changed = { [weak self] in self?.judge() }
        buffer.set("text", .text(text))
        read()
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

    private var text: String {
        Object(gtk_text_view_get_buffer(field.to())).text("text")
    }

    private func read() {
        links = LinkText(text)
        form.allowNames(links.links.count + links.metalinks.count <= 1)
        judge()
        probe?.cancel()
        guard links.mistakes.isEmpty, links.links.count == 1, let link = links.links.first else {
            let count = links.links.count + links.metalinks.count
            facts.set(
                "label",
                .text(count > 0 ? counted("{count} link", "{count} links", UInt(count)) : "")
            )
            return
        }
        if let probed, probed.link == link { return facts.set("label", .text(probed.answer)) }
        facts.set("label", .text(translated("Asking the server…")))
        probe = Task {
            try? await Task.sleep(for: Self.patience)
            guard !Task.isCancelled else { return }
            let answer: String
            do throws(ManagerError) {
                answer = Self.words(try await client.probe(link))
            } catch {
                answer = error.description
            }
            guard !Task.isCancelled, !dialog.isClosed else { return }
            probed = (link, answer)
            facts.set("label", .text(answer))
        }
    }

    private static func words(_ file: ProbedFile) -> String {
        let name = CellText(file.name).description
        guard let size = file.size else {
            return translated("{name}, size unknown", ["name": name])
        }
        return "\(name), \(ByteCount(size))"
    }

    private func judge() {
        let mistakes = links.mistakes.prefix(3).map { mistake in
            translated(
                "Line {line} is no link: {word}",
                ["line": "\(mistake.line)", "word": mistake.word]
            )
        }
        dialog.complain(mistakes.joined(separator: "\n"))
        let count = links.links.count + links.metalinks.count
        dialog.allow(count > 0 && mistakes.isEmpty && form.isValid)
    }

    private func add() {
        var options = form.values
        if options.directory == usualFolder { options.directory = nil }
        if paused.flag("active") { options.paused = true }
        dialog.allow(false)
        let (client, links) = (client, links)
        Task {
            do throws(ManagerError) {
                var count = 0
                if let link = links.links.first, links.links.count == 1 {
                    _ = try await client.addURL(link, options: options)
                    count += 1
                } else if !links.links.isEmpty {
                    count += try await client.addURLs(links.links, options: options).count
                }
                for path in links.metalinks {
                    count += try await client.addMetalink(at: path, options: options).count
                }
                tasks.say(counted("{count} download added", "{count} downloads added", UInt(count)))
                dialog.close()
            } catch {
                dialog.complain(error.description)
                dialog.allow(true)
            }
        }
    }
}
