// SPDX-License-Identifier: Apache-2.0

import CExpat
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
        let reader = try MetalinkReader(schemes: schemes)
        try reader.parse(document)
        guard !reader.files.isEmpty else {
            throw MetalinkFault("lists no file that can be downloaded")
        }
        files = reader.files
        leftOut = reader.leftOut
    }

    /// The version of the loaded expat, for example `2.5.0`; `XML_ExpatVersion`.
    package static var parserVersion: String {
        XML_ExpatVersion().map { String(cString: $0) }?.replacing("expat_", with: "") ?? ""
    }
}

/// Reads the elements of version 3 and version 4 from an XML document without a document type.
///
/// expat never opens a file or a connection, and costs the service 12 kB of private memory; libxml2
/// with ICU costs 250 kB (both measured), and FoundationXML needs all of Foundation. A document
/// type is refused, so a document cannot declare entities that expand or refer to other files. Each
/// object reads one document.
///
/// Version 3 differs in three ways: containers around files, hashes and URLs, whose children are
/// read; the names of hash algorithms; and a preference, where the highest number is best.
final class MetalinkReader {
    /// The deepest nesting; all elements that are used are less deep.
    private static let longestPath = 32
    /// The longest text in bytes: room for the longest URL and blanks around it.
    private static let longestText = 65 << 10

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
    private let parser: XML_Parser
    private var text: [UInt8] = []
    private var fault: MetalinkFault?

    init(schemes: Set<String>) throws(MetalinkFault) {
        // The separator is a line feed, which a namespace's name cannot contain.
        guard let parser = XML_ParserCreateNS(nil, Self.separator) else {
            throw MetalinkFault("is too large for the free memory")
        }
        self.schemes = schemes
        self.parser = parser
    }

    deinit { XML_ParserFree(parser) }

    private static let separator = XML_Char(UInt8(ascii: "\n"))

    /// Reads a document and takes its elements.
    ///
    /// - Parameter document: at most ``Metalink/longestDocument`` bytes.
    /// - Throws: what is wrong with an element, or an error with the line number if the document is
    ///   not well-formed XML in a known encoding.
    func parse(_ document: [UInt8]) throws(MetalinkFault) {
        let status = withExtendedLifetime(self) {
            listen()
            return document.withUnsafeBytes { bytes in
                let start = bytes.bindMemory(to: CChar.self).baseAddress
                return XML_Parse(parser, start, Int32(bytes.count), 1)
            }
        }
        if let fault { throw fault }
        guard status == XML_STATUS_OK else {
            throw MetalinkFault("is not valid XML in line \(XML_GetCurrentLineNumber(parser))")
        }
    }

    private func listen() {
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { data, name, attributes in MetalinkReader.of(data)?.begin(name, attributes) },
            { data, _ in MetalinkReader.of(data)?.end() }
        )
        XML_SetCharacterDataHandler(parser) { data, bytes, count in
            let text = UnsafeRawBufferPointer(start: bytes, count: Int(max(0, count)))
            MetalinkReader.of(data)?.take(text)
        }
        XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
            MetalinkReader.of(data)?.stop(MetalinkFault("has a document type, which is refused"))
        }
    }

    /// Returns the object that a callback belongs to; `parse` keeps it alive while expat runs.
    private static func of(_ data: UnsafeMutableRawPointer?) -> MetalinkReader? {
        data.map { Unmanaged<MetalinkReader>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Called by expat

    private func begin(
        _ name: UnsafePointer<XML_Char>?,
        _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) {
        guard fault == nil, let name else { return }
        text = []
        guard path.count < Self.longestPath else {
            return stop(MetalinkFault("is nested too deeply"))
        }
        var values: [String: String] = [:]
        var next = attributes
        // Names and values alternate; a null pointer ends the list.
        while let pair = next, let name = pair[0], let value = pair[1] {
            values[String(cString: name)] = String(cString: value)
            next = pair + 2
        }
        let parts = String(cString: name).split(separator: "\n", maxSplits: 1).map(String.init)
        let space = parts.count == 2 ? parts[0] : ""
        attempt { () throws(MetalinkFault) in try begin(parts.last ?? "", in: space, values) }
    }

    private func end() {
        guard fault == nil else { return }
        let text = String(decoding: text[...].trimmed, as: UTF8.self)
        self.text = []
        attempt { () throws(MetalinkFault) in try end(text: text) }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard fault == nil else { return }
        guard text.count + bytes.count <= Self.longestText else {
            return stop(MetalinkFault("has a text of more than \(Self.longestText) bytes"))
        }
        text += bytes
    }

    private func attempt(_ body: () throws(MetalinkFault) -> Void) {
        do throws(MetalinkFault) { try body() } catch { stop(error) }
    }

    private func stop(_ fault: MetalinkFault) {
        self.fault = self.fault ?? fault
        XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    private var place: [String] { path.compactMap(\.self) }

    // MARK: Elements

    /// Begins an element inside the last one; `space` is its namespace, empty if it has none.
    private func begin(
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
            guard files.count + leftOut.count < Metalink.mostFiles else {
                throw MetalinkFault("lists more than \(Metalink.mostFiles) files")
            }
            draft = MetalinkDraft(name: attributes["name"])
        case ["metalink", "file", "pieces"]: try draft.beginPieces(attributes)
        default: break
        }
    }

    private static let containers: Set<String> = ["files", "verification", "resources"]

    /// Ends the last element; `text` is its text after its last child, without blanks around it.
    private func end(text: String) throws(MetalinkFault) {
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
