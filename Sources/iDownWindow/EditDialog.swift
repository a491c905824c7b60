// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownView

/// Changes the options of a download, or gives it a fresh link.
final class EditDialog {
    private let client: ManagerClient
    private let id: String
    private let oldLink: String
    private let dialog: Dialog
    private let form: OptionsForm
    private let link = OptionsForm.entry(translated("Link"))
    private let isForLink: Bool

    init(_ client: ManagerClient, _ task: TaskProperties, over window: Object, isForLink: Bool) {
        self.client = client
        self.isForLink = isForLink
        id = task.id
        oldLink = task.url
        form = OptionsForm(over: window, [link])
        let name = RowText(task).name
        dialog = Dialog(
            over: window,
            title: isForLink ? translated("A Fresh Link") : translated("Change a Download"),
            button: translated("Apply"),
            [.label(name, classes: ["heading"], ["wrap": true, "wrap-mode": 2]), form.box]
        )
        link.set("text", .text(isForLink ? "" : task.url))
        form.show(task)
        dialog.accepted = { self.apply() }
        link.on("changed") { _ in self.judge() }
        form.changed = { [weak self] in self?.judge() }
        judge()
    }

    func present() {
        dialog.present()
        if isForLink { gtk_widget_grab_focus(link.widget) }
    }

    private func judge() {
        let text = link.text("text")
        let links = LinkText(text)
        let isLink = links.mistakes.isEmpty && links.links.count == 1
        link.setClass("error", !text.isEmpty && !isLink)
        dialog.allow(form.isValid && (isLink || (text.isEmpty && !isForLink)))
    }

    private func apply() {
        var edits = form.edits
        let text = link.text("text")
        if !text.isEmpty, text != oldLink { edits.url = LinkText(text).links.first }
        dialog.allow(false)
        let (client, id) = (client, id)
        Task {
            do throws(ManagerError) {
                if !edits.dictionary.isEmpty { try await client.setOptions(edits, of: id) }
                dialog.close()
            } catch {
                dialog.complain(error.description)
                dialog.allow(true)
            }
        }
    }
}
