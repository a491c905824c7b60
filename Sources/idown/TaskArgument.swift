// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// The one task that a command is about.
struct TaskArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("ID of a download, as idown list shows it.", valueName: "id"),
        completion: TaskCompletion.ids
    )
    var id: String

    func validate() throws {
        guard TaskPath.isID(TaskPath.id(meantBy: id)) else {
            throw ValidationError(
                "\(ShownURL(id)) is no ID; IDs are numbers such as 7, see idown list"
            )
        }
    }
}
