// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownView

/// Changes the options of a download, or gives it a fresh link.
final class EditDialog {
    private let client: ManagerClient
    private let tasks: TaskActions
    private let task: TaskProperties
    private let dialog: Dialog
    private let form: OptionsForm
    private let link = Field(translated("Link")) { text in
        let links = LinkText(text)
        let isLink = links.mistakes.isEmpty && links.links.count == 1
        return isLink || text.isEmpty ? nil : Field.mistake(expected: translated("one link"))
    }
    private let isForLink: Bool

    init(
        _ client: ManagerClient,
        _ tasks: TaskActions,
        _ task: TaskProperties,
        over window: Object,
        isForLink: Bool
    ) {
        self.client = client
        self.tasks = tasks
        self.isForLink = isForLink
        self.task = task
        form = OptionsForm(over: window, link)
        let name = RowText(task).name
        dialog = Dialog(
            over: window,
            title: isForLink ? translated("A Fresh Link") : translated("Change a Download"),
            button: translated("Apply"),
            [
                tasks.pulse.banner(),
                .wrappedName(name, classes: ["heading"]), form.box,
            ]
        )
        link.text = isForLink ? "" : task.url
        link.isNeeded = !isForLink
        limitLink(to: task.state)
        form.show(task)
        dialog.accepted = {
            tasks.pulse.check()
            await self.apply()
        }
        dialog.complainAfterwards = { [weak tasks] in tasks?.say($0) }
        link.changed = { [weak self] in self?.judge() }
        form.changed = { [weak self] in self?.judge() }
        judge()
    }

    func present() {
        dialog.present()
        if isForLink { gtk_widget_grab_focus(link.row.widget) }
    }

    private func judge() {
        dialog.allow(form.isValid && link.mistake == nil && !(isForLink && link.text.isEmpty))
    }

    private func limitLink(to state: TaskProperties.State) {
        link.isEnabled = state != .completed && state != .cancelled
    }

    private func apply() async {
        var edits = form.edits(of: task)
        if link.isEnabled, !link.text.isEmpty, link.text != task.url {
            edits.url = LinkText(link.text).links.first
        }
        do throws(ManagerError) {
            if !edits.dictionary.isEmpty {
                tasks.keep([task.id])
                try await client.setOptions(edits, of: task.id)
            }
            dialog.close()
        } catch {
            guard error.code == .invalidState, !dialog.isClosed,
                let state = try? await client.getTasks([task.id], of: [.state]).first?.state,
                state != task.state, !dialog.isClosed
            else { return dialog.refuse(error.text) }
            form.limit(to: state)
            limitLink(to: state)
            dialog.refuse(
                translated(
                    "The state of the download is now: {state}. What is grey cannot be changed any more; Apply changes the rest.",
                    ["state": state.title]
                )
            )
        }
    }
}
