// SPDX-License-Identifier: Apache-2.0

import GRDB
import iDownState

/// The tables, version by version.
///
/// A released version is never edited: changes go into a new version.
enum Schema {
    static var migrator: DatabaseMigrator {
        let versions = [
            version1, version2, version3, version4, version5, version6, version7,
            version8, version9, version10, version11, version12, version13, version14,
            version15, version16,
        ]
        var migrator = DatabaseMigrator()
        for (number, sql) in zip(1..., versions) {
            migrator.registerMigration("\(number)", foreignKeyChecks: .immediate) { database in
                try database.execute(sql: sql)
                switch number {
                case 2: try markLogins(in: database)
                case 12: try nameTasks(in: database)
                default: break
                }
            }
        }
        return migrator
    }

    // Long texts stand last: SQLite then finds the short columns without walking through them.
    // Each partial index holds only the few rows that its query asks for, so that a task that
    // rests costs nothing in it; `Query` repeats its condition word by word.
    // The folded texts for searching have a table of their own, small enough to be scanned.
    private static let version1 = """
        CREATE TABLE task (
            id INTEGER PRIMARY KEY NOT NULL,
            state TEXT NOT NULL,
            hold TEXT,
            retryAt INTEGER,
            intent TEXT,
            intentName TEXT,
            priority INTEGER NOT NULL,
            speedLimit INTEGER NOT NULL,
            attempt INTEGER NOT NULL,
            startOrder INTEGER NOT NULL,
            tries INTEGER NOT NULL,
            stretchStart INTEGER NOT NULL,
            createdAt INTEGER NOT NULL,
            finishedAt INTEGER,
            bytesOnDisk INTEGER NOT NULL,
            total INTEGER,
            integrity TEXT,
            urlHash INTEGER NOT NULL,
            originHash INTEGER NOT NULL,
            isLoopback INTEGER NOT NULL,
            onExisting TEXT NOT NULL,
            connections INTEGER,
            expectedSize INTEGER,
            hasPieceHashes INTEGER NOT NULL,
            usesStoredLogins INTEGER NOT NULL,
            whenDone TEXT,
            fileDevice INTEGER,
            fileInode INTEGER,
            servesRanges INTEGER NOT NULL,
            refusesRanges INTEGER NOT NULL,
            dislikesIfRange INTEGER NOT NULL,
            restsOnProof INTEGER NOT NULL,
            needsProof INTEGER NOT NULL,
            failureCode TEXT,
            failureIsTransient INTEGER,
            failureRetryAfter INTEGER,
            failureNeededSpace INTEGER,
            entityTagIsWeak INTEGER,
            lastModifiedIsStrong INTEGER,
            lastModified TEXT,
            remoteChecksum TEXT,
            mimeType TEXT NOT NULL,
            fileName TEXT,
            wantedName TEXT,
            checksum TEXT,
            directory TEXT NOT NULL,
            segments BLOB NOT NULL,
            entityTag TEXT,
            failureMessage TEXT,
            owner TEXT,
            userAgent TEXT,
            url TEXT NOT NULL,
            referrer TEXT,
            headers TEXT,
            mirrors TEXT
        ) STRICT;

        CREATE INDEX taskInQueue ON task(priority DESC)
            WHERE hold = 'queue' AND intent IS NULL;
        CREATE INDEX taskInBackOff ON task(retryAt)
            WHERE hold = 'retry';
        CREATE INDEX taskHeld ON task(hold, priority DESC)
            WHERE hold IN ('offline', 'metered', 'battery', 'space');
        CREATE INDEX taskRunning ON task(startOrder, priority)
            WHERE state = 'downloading';
        CREATE INDEX taskWithIntent ON task(intent)
            WHERE intent IS NOT NULL;
        CREATE INDEX taskUnfinished ON task(urlHash)
            WHERE state IN ('waiting', 'downloading', 'paused', 'failed');
        CREATE INDEX taskUnfinishedWithFile ON task(fileInode)
            WHERE fileName IS NOT NULL
            AND state IN ('waiting', 'downloading', 'paused', 'failed');
        CREATE INDEX taskByState ON task(state)
            WHERE intent IS NOT 'remove';

        CREATE TABLE taskText (
            id INTEGER PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            url TEXT NOT NULL
        ) STRICT;
        CREATE INDEX taskByName ON taskText(name);
        CREATE TRIGGER taskForgotten AFTER DELETE ON task BEGIN
            DELETE FROM taskText WHERE id = old.id;
        END;

        CREATE TABLE tally (
            state TEXT PRIMARY KEY NOT NULL,
            count INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO tally VALUES
            ('waiting', 0), ('downloading', 0), ('paused', 0),
            ('completed', 0), ('failed', 0), ('cancelled', 0);

        CREATE TRIGGER taskInserted AFTER INSERT ON task
        WHEN new.intent IS NOT 'remove' BEGIN
            UPDATE tally SET count = count + 1 WHERE state = new.state;
        END;
        CREATE TRIGGER taskDeleted AFTER DELETE ON task
        WHEN old.intent IS NOT 'remove' BEGIN
            UPDATE tally SET count = count - 1 WHERE state = old.state;
        END;
        CREATE TRIGGER taskMoved AFTER UPDATE OF state, intent ON task
        WHEN old.state <> new.state OR (old.intent IS 'remove') <> (new.intent IS 'remove') BEGIN
            UPDATE tally SET count = count - 1
                WHERE state = old.state AND old.intent IS NOT 'remove';
            UPDATE tally SET count = count + 1
                WHERE state = new.state AND new.intent IS NOT 'remove';
        END;

        CREATE INDEX taskFinished ON task(finishedAt)
            WHERE state = 'completed' AND intent IS NULL;

        CREATE TABLE pieceHashes (
            task INTEGER PRIMARY KEY NOT NULL REFERENCES task(id) ON DELETE CASCADE,
            algorithm TEXT NOT NULL,
            length INTEGER NOT NULL,
            digests BLOB NOT NULL
        ) STRICT;

        CREATE TABLE token (
            number INTEGER PRIMARY KEY NOT NULL,
            token TEXT NOT NULL UNIQUE,
            ids BLOB NOT NULL
        ) STRICT;

        CREATE TABLE nextID (
            value INTEGER NOT NULL
        ) STRICT;
        INSERT INTO nextID VALUES (1);
        """

    // Logins in URLs, and the places where moved logins are kept. Few tasks have either.
    private static let version2 = """
        ALTER TABLE task ADD COLUMN loginKey TEXT;
        ALTER TABLE task ADD COLUMN hasLogins INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX taskWithLogins ON task(id) WHERE hasLogins = 1;
        CREATE INDEX taskByLoginKey ON task(loginKey) WHERE loginKey IS NOT NULL;
        """

    // A task whose file may already have its final name is retried like any other.
    private static let version3 = """
        DROP INDEX taskInQueue;
        CREATE INDEX taskInQueue ON task(priority DESC)
            WHERE hold = 'queue' AND intent IS NOT 'discard';
        """

    // Some drives got another device number each time they were mounted, so the file system's own
    // ID is stored instead. It is unknown for files that were made before.
    private static let version4 = """
        UPDATE task SET fileDevice = 0 WHERE fileDevice IS NOT NULL;
        """

    // The ids of the tasks that a metalink has added. Few tasks are metalinks.
    private static let version5 = """
        ALTER TABLE task ADD COLUMN listedTasks BLOB;
        """

    // Tasks may wait for the settings file to be mended.
    private static let version6 = """
        DROP INDEX taskHeld;
        CREATE INDEX taskHeld ON task(hold, priority DESC)
            WHERE hold IN ('offline', 'metered', 'battery', 'space', 'settings');
        """

    // How long a task is tried without progress, how much of that time has passed, whether its host
    // has ever answered, and how far away the host of its metalink was.
    private static let version7 = """
        ALTER TABLE task ADD COLUMN retryFor INTEGER NOT NULL DEFAULT 86400;
        ALTER TABLE task ADD COLUMN waited INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE task ADD COLUMN hostHasAnswered INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE task ADD COLUMN metalinkReach INTEGER;
        """

    // How many tasks an application from a sandbox has. The user's own tasks have no owner.
    private static let version8 = """
        CREATE INDEX taskByOwner ON task(owner) WHERE owner IS NOT NULL;
        """

    // The serial of each task's last change, the tasks removed last, and which list this is.
    private static let version9 = """
        ALTER TABLE task ADD COLUMN serial INTEGER NOT NULL DEFAULT 1;
        CREATE INDEX taskBySerial ON task(serial);
        CREATE TABLE removal (
            number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
            serial INTEGER NOT NULL,
            task INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX removalBySerial ON removal(serial);
        CREATE TABLE list (
            id TEXT NOT NULL,
            serial INTEGER NOT NULL,
            reserved INTEGER NOT NULL,
            forgotten INTEGER NOT NULL
        ) STRICT;
        INSERT INTO list VALUES (lower(hex(randomblob(16))), 1, 0, 0);
        """

    // Which application added a task.
    private static let version12 = """
        ALTER TABLE task ADD COLUMN addedBy TEXT;
        """

    // Without a condition on the state: with one, each change of a state took the task out of this
    // index and put it back at the same place, for 100,000 tasks in random order.
    private static let version13 = """
        DROP INDEX taskUnfinished;
        CREATE INDEX taskUnfinished ON task(urlHash);
        """

    // For a list of more than two values SQLite makes a table of its own, for each row that is
    // inserted or changes its state: nearly half of the time of such an update.
    private static let version14 = """
        DROP INDEX taskHeld;
        CREATE INDEX taskHeld ON task(hold, priority DESC)
            WHERE hold NOT IN ('queue', 'retry');
        DROP INDEX taskUnfinishedWithFile;
        CREATE INDEX taskUnfinishedWithFile ON task(fileInode)
            WHERE fileName IS NOT NULL AND state NOT IN ('completed', 'cancelled');
        """

    // Whether the validators of a file come from another URL than the task's.
    private static let version15 = """
        ALTER TABLE task ADD COLUMN isFromElsewhere INTEGER NOT NULL DEFAULT 0;
        """

    // When the file `next-id` was last changed, as of the last commit; 0 if that is unknown.
    private static let version16 = """
        ALTER TABLE list ADD COLUMN idsChangeTime INTEGER NOT NULL DEFAULT 0;
        """

    /// Gives tasks without a file the name that their URL suggests, for searching and sorting.
    private static func nameTasks(in database: Database) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT id, url FROM task WHERE fileName IS NULL AND wantedName IS NULL"
        )
        let update = try database.makeStatement(sql: "UPDATE taskText SET name = ? WHERE id = ?")
        while let row = try rows.next() {
            // Converted from DatabaseValue, because a direct conversion traps on another type.
            let (id, stored) = (row[0] as DatabaseValue, row[1] as DatabaseValue)
            guard let url = String.fromDatabaseValue(stored) else { continue }
            let name = TaskRequest(url: url, directory: "").suggestedName
            try update.execute(arguments: [FoldedText.fold(name), id])
        }
    }

    // Cookies that clients give, tasks of private windows, and hand-overs of browsers. A
    // provisional hand-over is not a task yet: its row is kept here as text, so that no query,
    // index or count of tasks includes it. Of a withdrawn one, only the token is kept, for ever.
    private static let version10 = """
        ALTER TABLE task ADD COLUMN cookies TEXT;
        ALTER TABLE task ADD COLUMN isPrivate INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE handOver (
            token TEXT PRIMARY KEY NOT NULL,
            state TEXT NOT NULL,
            task INTEGER,
            confirmAt INTEGER,
            record TEXT
        ) STRICT;
        CREATE INDEX handOverProvisional ON handOver(confirmAt) WHERE state = 'provisional';
        """

    // The target of a file that is being moved, or the file that a move has left behind. A task
    // whose file is being moved does not start.
    private static let version11 = """
        ALTER TABLE task ADD COLUMN moveKind TEXT;
        ALTER TABLE task ADD COLUMN moveDirectory TEXT;
        ALTER TABLE task ADD COLUMN moveWish TEXT;
        ALTER TABLE task ADD COLUMN moveName TEXT;
        ALTER TABLE task ADD COLUMN moveDevice INTEGER;
        ALTER TABLE task ADD COLUMN moveInode INTEGER;
        CREATE INDEX taskMoving ON task(id) WHERE moveKind IS NOT NULL;
        DROP INDEX taskInQueue;
        CREATE INDEX taskInQueue ON task(priority DESC)
            WHERE hold = 'queue' AND intent IS NOT 'discard' AND moveKind IS NOT 'to';
        """

    private static func markLogins(in database: Database) throws {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT id, url, coalesce(mirrors, '') FROM task
                WHERE instr(url, '@') > 0 OR instr(coalesce(mirrors, ''), '@') > 0
                """
        )
        for row in rows {
            // Converted from DatabaseValue, because a direct conversion traps on another type.
            let values = (0..<3).map { row[$0] as DatabaseValue }
            guard let url = String.fromDatabaseValue(values[1]),
                let mirrors = String.fromDatabaseValue(values[2]),
                TaskRequest.hasLogin(url)
                    || MirrorText.mirrors(of: mirrors).contains(where: TaskRequest.hasLogin)
            else { continue }
            try database.execute(
                sql: "UPDATE task SET hasLogins = 1 WHERE id = ?",
                arguments: [values[0]]
            )
        }
    }
}
