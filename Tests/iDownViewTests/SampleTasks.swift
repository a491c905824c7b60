// SPDX-License-Identifier: Apache-2.0

import iDownBus

extension TaskProperties {
    /// A running download.
    static var running: TaskProperties {
        var task = TaskProperties()
        task.id = "7"
        task.url = "https://example.org/disk.iso?key=1"
        task.fileName = "disk.iso"
        task.directory = "/home/me/Downloads"
        task.state = .downloading
        task.activity = .transferring
        task.downloadedBytes = 50 << 20
        task.totalBytes = 200 << 20
        task.speed = 2 << 20
        task.progress = 0.25
        task.connections = 1
        task.resumable = true
        return task
    }

    /// A completed download.
    static var finished: TaskProperties {
        var task = TaskProperties()
        task.id = "3"
        task.fileName = "日本語.zip"
        task.path = "/home/me/Downloads/日本語.zip"
        task.state = .completed
        task.downloadedBytes = 1536
        task.totalBytes = 1536
        task.progress = 1
        task.integrity = .validators
        return task
    }

    /// A failed download.
    static var broken: TaskProperties {
        var task = TaskProperties()
        task.id = "12"
        task.url = "https://example.org/gone"
        task.state = .failed
        task.errorCode = "Server.NotFound"
        task.errorMessage = "the server answered HTTP 404"
        return task
    }
}
