// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownTesting

/// A folder with one `.service` file.
struct TemporaryServiceFolder {
    let path: String
    private let file: String

    init(name: String, program: String) throws {
        // It lives until `remove()`, and not as long as one call.
        var template = Array("/tmp/idown-services-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw PrivateBusFolderFailure(errno: errno) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        file = "\(path)/\(name).service"
        guard let stream = fopen(file, "w") else { throw PrivateBusFolderFailure(errno: errno) }
        fputs("[D-BUS Service]\nName=\(name)\nExec=\(program)\n", stream)
        fclose(stream)
    }

    func remove() {
        unlink(file)
        rmdir(path)
    }
}

/// Why the folder could not be made.
struct PrivateBusFolderFailure: Error {
    let errno: Int32
}
