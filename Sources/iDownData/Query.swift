// SPDX-License-Identifier: Apache-2.0

/// The SQL statements of the store.
///
/// Statements that run often use an index and never scan the whole table; a test checks that.
/// SQLite uses a partial index only if the query repeats the index's condition word by word.
enum Query: String, CaseIterable {
    case inQueue = """
        SELECT id, directory, fileName, url, mirrors FROM task
        WHERE hold = 'queue' AND intent IS NOT 'discard' AND moveKind IS NOT 'to'
        ORDER BY priority DESC, id
        """
    /// Scans the whole queue if all of it is excluded: 15 ms for 100,000 tasks.
    case inQueueExcluding = """
        SELECT id, directory, fileName, url, mirrors FROM task
        WHERE hold = 'queue' AND intent IS NOT 'discard' AND moveKind IS NOT 'to'
        AND isLoopback >= ?
        AND originHash NOT IN (SELECT value FROM json_each(?))
        AND directory NOT IN (SELECT value FROM json_each(?))
        AND (fileName IS NOT NULL OR directory NOT IN (SELECT value FROM json_each(?)))
        ORDER BY priority DESC, id
        """
    case held = """
        SELECT id FROM task
        WHERE hold = ? AND hold NOT IN ('queue', 'retry')
        ORDER BY priority DESC, id
        """
    /// At most 300 rows, the most that callers ask about; so does `someHeld`.
    case someInBackOff = "SELECT id FROM task WHERE hold = 'retry' LIMIT 300"
    case someHeld = "SELECT id FROM task WHERE hold NOT IN ('queue', 'retry') LIMIT 300"
    case inBackOff = "SELECT id FROM task WHERE hold = 'retry' ORDER BY retryAt, id"
    case running = """
        SELECT id FROM task WHERE state = 'downloading' ORDER BY priority, startOrder DESC
        """
    case withIntent = "SELECT id FROM task WHERE intent IS NOT NULL"
    case withPublication = "SELECT id FROM task WHERE intent = 'publish'"
    case moving = "SELECT id FROM task WHERE moveKind IS NOT NULL"
    case countOfOwner = "SELECT count(*) FROM task WHERE owner = ? AND owner IS NOT NULL"
    case unfinished = """
        SELECT id, url, wantedName, fileName, owner, loginKey FROM task
        WHERE urlHash = ? AND directory = ?
        AND state NOT IN ('completed', 'cancelled') AND intent IS NOT 'remove'
        ORDER BY id
        """
    case unfinishedWithFile = """
        SELECT id FROM task WHERE fileName IS NOT NULL
        AND state NOT IN ('completed', 'cancelled') AND intent IS NOT 'remove'
        """
    case inState = "SELECT id FROM task WHERE state = ? AND intent IS NOT 'remove' ORDER BY id"
    case finished = """
        SELECT id FROM task WHERE state = 'completed' AND intent IS NULL
        AND finishedAt BETWEEN ? AND ? ORDER BY finishedAt LIMIT ?
        """
    case withLogins = "SELECT id FROM task WHERE hasLogins = 1 AND id > ? ORDER BY id LIMIT ?"
    case withLoginKey = "SELECT id FROM task WHERE loginKey IN (?, ?) LIMIT 1"
    case loginKeys = "SELECT DISTINCT loginKey FROM task WHERE loginKey IS NOT NULL LIMIT ?"
    /// The tasks that could not start because their logins could not be read; it checks every task
    /// with a login key.
    case unreadableLogins = """
        SELECT id FROM task
        WHERE failureCode = 'Server.AuthRequired'
        AND failureIsTransient = 1 AND (hold = 'retry' OR state = 'failed')
        ORDER BY id
        """
    case insertText = "INSERT OR REPLACE INTO taskText (id, name, url) VALUES (?, ?, ?)"
    case updateText = """
        UPDATE taskText SET name = ?2, url = ?3 WHERE id = ?1 AND (name <> ?2 OR url <> ?3)
        """
    case counts = "SELECT state, count FROM tally"
    case idsForToken = "SELECT ids FROM token WHERE token = ?"
    case insertToken = "INSERT INTO token (token, ids) VALUES (?, ?)"
    case handOver = "SELECT state, task, confirmAt FROM handOver WHERE token = ?"
    case provisionalHandOvers = """
        SELECT token, confirmAt FROM handOver WHERE state = 'provisional' AND task > 0
        ORDER BY confirmAt LIMIT ?
        """
    /// Searches the newest 10,000 hand-overs only, because the list keeps all tokens for ever.
    case unfinishedHandOvers = """
        SELECT late
        FROM (SELECT token, state, task AS late FROM handOver ORDER BY rowid DESC LIMIT 10000)
        WHERE state = 'confirmed' AND token >= ? AND token < ?
        AND EXISTS (
            SELECT 1 FROM task WHERE task.id = late AND task.referrer = ?
            AND task.state NOT IN ('completed', 'cancelled') AND task.intent IS NULL
        )
        ORDER BY late DESC LIMIT 100
        """
    case insertHandOver = """
        INSERT OR REPLACE INTO handOver (token, state, task, confirmAt, record)
        VALUES (?, ?, ?, ?, ?)
        """
    case passOnHandOver = """
        UPDATE handOver SET state = 'confirmed'
        WHERE task = ? AND state IN ('confirmed', 'joined')
        """
    case deleteHandOver = "DELETE FROM handOver WHERE token = ?"
    case fail = "UPDATE task SET state = 'failed', hold = NULL, cookies = NULL WHERE id = ?"
    case delete = "DELETE FROM task WHERE id = ?"
    case pieceHashes = "SELECT algorithm, length, digests FROM pieceHashes WHERE task = ?"
    case insertPieceHashes = """
        INSERT INTO pieceHashes (task, algorithm, length, digests) VALUES (?, ?, ?, ?)
        """
    case list = "SELECT id, serial, reserved, forgotten, idsChangeTime FROM list"
    case insertList = """
        INSERT INTO list SELECT lower(hex(randomblob(16))), 1, 0, 0, 0
        WHERE NOT EXISTS (SELECT 1 FROM list)
        """
    case takeSerial = "UPDATE list SET serial = serial + 1, reserved = ? RETURNING serial"
    case keepChangeTime = "UPDATE list SET idsChangeTime = ?1 WHERE idsChangeTime <> ?1"
    case newestSerial = "SELECT max(serial) FROM task"
    /// Makes this a new list, with a new id and no known removals.
    case renewList = """
        UPDATE list SET id = lower(hex(randomblob(16))), serial = ?1, forgotten = ?1, reserved = ?2
        """
    case insertRemoval = "INSERT INTO removal (serial, task) VALUES (?, ?)"
    case removals = "SELECT task FROM removal WHERE serial > ? ORDER BY serial, number"
    case noteForgotten = """
        UPDATE list SET forgotten =
        max(forgotten, coalesce((SELECT serial FROM removal WHERE number = ?), 0))
        """
    case forgetRemovals = "DELETE FROM removal WHERE number <= ?"
    case nextID = "SELECT value FROM nextID"
    case setNextID = "UPDATE nextID SET value = ?"
}
