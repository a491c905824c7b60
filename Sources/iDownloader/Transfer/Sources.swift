// SPDX-License-Identifier: Apache-2.0

import Curl

/// The places that a file can be fetched from, and which of them is asked.
///
/// The first is the URL that the client gave; an attempt begins there.
struct Sources {
    private(set) var urls: [URLReference]
    /// How many of them the client has given; all others a server has named.
    private let given: Int
    /// Which of them is asked first.
    private(set) var position = 0
    /// Those that have failed or were slow where others were not: they bring no further parts.
    private(set) var dropped: Set<Int> = []
    /// Whether several may bring parts of one file.
    private(set) var mayMix = true

    /// No more mirrors are kept of what servers offer (contract, Limits).
    static let mostMirrors = 100

    init(home: URLReference, mirrors: [String]) {
        var urls = [home]
        for mirror in mirrors {
            if let url = try? URLReference(mirror) { Self.add(url, to: &urls) }
        }
        self.urls = urls
        given = urls.count
    }

    var current: URLReference { urls[position] }

    /// Whether the URL that the client gave is the one that is asked.
    var isAtHome: Bool { position == 0 }

    /// Nobody is to bring parts from there any more.
    mutating func drop(_ source: Int) { dropped.insert(source) }

    /// From now on the file comes from one source alone: of several together nobody could say
    /// which has brought the wrong bytes.
    mutating func stopMixing() { mayMix = false }

    /// Adds a mirror behind those that are known.
    mutating func add(_ mirror: URLReference) { Self.add(mirror, to: &urls) }

    private static func add(_ mirror: URLReference, to urls: inout [URLReference]) {
        guard urls.count <= mostMirrors, !urls.contains(mirror) else { return }
        urls.append(mirror)
    }

    /// Those that servers have named.
    var named: [URLReference] { Array(urls[given...]) }

    /// Whether a server has named it, and not the client.
    func isNamed(_ source: Int) -> Bool { source >= given }

    /// Where these stand.
    func positions(of others: Set<URLReference>) -> Set<Int> {
        Set(urls.indices.filter { others.contains(urls[$0]) })
    }

    /// Asks the client's URL, or the first behind it that is none of these; that itself where all are.
    mutating func begin(past failed: Set<Int>) {
        position = urls.indices.first { !failed.contains($0) } ?? 0
    }

    /// Asks this one.
    mutating func begin(at source: Int) { position = source }

    /// Goes on to the next one that is none of these, and behind the last begins anew; false where
    /// all are.
    mutating func rotate(past failed: Set<Int>) -> Bool {
        for _ in urls {
            rotate()
            if !failed.contains(position) { return true }
        }
        return false
    }

    /// Goes on to the next one, and behind the last begins anew.
    mutating func rotate() { position = (position + 1) % urls.count }
}
