// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

extension Metalink {
    /// Reads a document.
    ///
    /// - Parameters:
    ///   - document: the file's bytes.
    ///   - schemes: the schemes of URLs that idown can download.
    /// - Throws: if the document is no metalink, breaks a limit, contradicts itself, or lists no
    ///   file that idown can download. Unknown elements are ignored.
    package init(_ document: [UInt8], schemes: Set<String>) throws(MetalinkFault) {
        guard document.count <= Self.longestDocument else { throw MetalinkFault("is too long") }
        let reader = MetalinkReader(schemes: schemes)
        try XMLElements(reader).parse(document)
        guard !reader.files.isEmpty else {
            throw MetalinkFault("lists no file that can be downloaded")
        }
        files = reader.files
        leftOut = reader.leftOut
    }
}

/// Reads the elements of version 3 and version 4.
///
/// Version 3 differs in three ways: containers around files, hashes and URLs, whose children are
/// read; the names of hash algorithms; and a preference, where the highest number is best.
final class MetalinkReader {
    private(set) var files: [Metalink.File] = []
    private(set) var leftOut: [String] = []
    private let schemes: Set<String>
    /// The namespace of the root element; nil before the root.
    ///
    /// Elements of other namespaces are extensions.
    private var namespace: String?
    /// The names of the open elements; nil for a container or an unknown element.
    private var path: [String?] = []
    private var attributes: [String: String] = [:]
    private var draft = MetalinkDraft()
    private var fileCount = 0

    init(schemes: Set<String>) { self.schemes = schemes }

    private var place: [String] { path.compactMap(\.self) }

    /// Begins an element inside the last one; `space` is its namespace, empty if it has none.
    func begin(
        _ name: String,
        in space: String,
        _ attributes: [String: String]
    ) throws(MetalinkFault) {
        self.attributes = attributes
        guard let namespace else {
            guard name == "metalink" else {
                throw MetalinkFault("is an XML document of another kind")
            }
            self.namespace = space
            return path.append(name)
        }
        let isKnown = space == namespace && !Self.containers.contains(name)
        path.append(isKnown ? name : nil)
        guard isKnown else { return }
        switch place {
        case ["metalink", "file"]:
            fileCount += 1
            guard fileCount <= Metalink.mostFiles else {
                throw MetalinkFault("lists more than \(Metalink.mostFiles) files")
            }
            draft = MetalinkDraft(name: attributes["name"])
        case ["metalink", "file", "pieces"]: try draft.beginPieces(attributes)
        default: break
        }
    }

    private static let containers: Set<String> = ["files", "verification", "resources"]

    /// Ends the last element; `text` is its text after its last child, without blanks around it.
    func end(text: String) throws(MetalinkFault) {
        defer { path.removeLast() }
        guard let last = path.last, last != nil else { return }
        switch place {
        case ["metalink", "file"]:
            if let file = try draft.finish() {
                files.append(file)
            } else {
                leftOut.append(draft.name ?? "")
            }
        case ["metalink", "file", "size"]: try draft.take(size: text)
        case ["metalink", "file", "hash"]: try draft.take(hash: text, attributes)
        case ["metalink", "file", "pieces"]: try draft.endPieces()
        case ["metalink", "file", "pieces", "hash"]: try draft.take(pieceHash: text, attributes)
        case ["metalink", "file", "url"]: try draft.take(url: text, attributes, schemes)
        default: break
        }
    }
}
