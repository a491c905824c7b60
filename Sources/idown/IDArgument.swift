// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// Looks at what was typed where an id belongs.
enum IDArgument {
    static func check(_ ids: [String]) throws {
        if let wrong = ids.first(where: { !TaskPath.isID(TaskPath.id(meantBy: $0)) }) {
            throw ValidationError(
                "\(ShownURL(wrong)) is no ID; IDs are numbers such as 7, see idown list"
            )
        }
    }
}
