// SPDX-License-Identifier: Apache-2.0

import DBus
package import iDownBus

extension HistoryEntry {
    /// What happened, as a sentence in the user's language; kinds that are not known keep their name.
    package var sentence: String {
        let words =
            switch what {
            case "started": started
            case "asked": asked
            case "answered": answered
            case "differs":
                translated("The bytes differ from here on: {place}", ["place": size("at")])
            case "proven": translated("The bytes that are here are right")
            case "refused":
                translated("{host} refuses one more connection", ["host": text("host") ?? ""])
            case "ended": ended
            case "source": source
            case "verified": translated("All bytes are here: {size}", ["size": size("bytes")])
            case "failed": FailureText.text(of: text("error") ?? "", saying: text("message") ?? "")
            case "stopped":
                hold.isEmpty
                    ? translated("Stopped") : translated("Stopped: {reason}", ["reason": hold])
            default: what
            }
        return CellText(connection == 0 ? words : "#\(connection)  \(words)").description
    }

    private var started: String {
        let attempt = ["attempt": shown(UInt(clamping: number("attempt") ?? 0))]
        let words =
            (number("bytes") ?? 0) > 0
            ? translated(
                "Attempt {attempt} begins with {size}",
                attempt.merging(["size": size("bytes")]) { $1 }
            ) : translated("Attempt {attempt} begins", attempt)
        guard text("cookies") == "missing" else { return words }
        return translated("{start}; the cookie file cannot be read", ["start": words])
    }

    private var asked: String {
        let values = ["host": text("host") ?? "", "place": size("first"), "size": size("length")]
        let words =
            switch (number("first") ?? 0, number("length")) {
            case (0, nil): translated("Asks {host} for the file", values)
            case (_, nil): translated("Asks {host} for all after {place}", values)
            case (_, _?): translated("Asks {host} for {size} after {place}", values)
            }
        guard let proxy = text("via") else { return words }
        return translated("{request}, through {proxy}", ["request": words, "proxy": proxy])
    }

    private var answered: String {
        let values = ["status": number("status").map { "\($0)" } ?? ""]
        return switch text("decision") {
        case "resume": translated("Answer {status}: the download continues", values)
        case "compare", "prove":
            translated("Answer {status}: compares it with the bytes that are here", values)
        case "check": translated("Answer {status}: looks whether the file is the same", values)
        case "complete": translated("Answer {status}: nothing is missing", values)
        case "ask-again": translated("Answer {status}: asks again", values)
        case "redirect": translated("Answer {status}: goes to another address", values)
        case "fail":
            translated(
                "Answer {status}: {reason}",
                values.merging(["reason": FailureText.sentence(of: text("error") ?? "")]) { $1 }
            )
        default: translated("Answer {status}: the download begins", values)
        }
    }

    private var ended: String {
        let size = ["size": size("bytes")]
        guard let error = text("error") else {
            return translated("The connection ends; it brought {size}", size)
        }
        return translated(
            "The connection broke; it brought {size}: {reason}",
            size.merging(["reason": FailureText.sentence(of: error)]) { $1 }
        )
    }

    private var source: String {
        let number = number("source") ?? 0
        let place = ["number": shown(UInt(clamping: number))]
        let words =
            number == 0
            ? translated("Asks the link itself again")
            : translated("Asks mirror {number}", place)
        return details["anew"] == .boolean(true)
            ? translated("{source}, from the beginning", ["source": words]) : words
    }

    /// What a stopped attempt waits for; empty for nothing.
    private var hold: String {
        guard let why = text("why") else { return "" }
        return why == "host-rests"
            ? TaskProperties.Hold.retry.title : TaskProperties.Hold(rawValue: why).title
    }

    private func text(_ name: String) -> String? {
        guard case .string(let text) = details[name] else { return nil }
        return text
    }

    private func number(_ name: String) -> Int64? {
        guard case .int64(let number) = details[name] else { return nil }
        return number
    }

    private func size(_ name: String) -> String {
        ByteCount(UInt64(clamping: number(name) ?? 0)).description
    }
}
