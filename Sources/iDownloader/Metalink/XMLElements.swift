// SPDX-License-Identifier: Apache-2.0

import CExpat

/// Reads an XML document without a document type, element by element.
///
/// expat never opens a file or a connection, and costs the service 12 kB of private memory; libxml2
/// with ICU costs 250 kB (both measured), and FoundationXML needs all of Foundation. A document
/// type is refused, so a document cannot declare entities that expand or refer to other files. Each
/// object reads one document.
final class XMLElements {
    /// The deepest nesting; all elements that are used are less deep.
    static let longestPath = 32
    /// The longest text in bytes: room for the longest URL and blanks around it.
    static let longestText = 65 << 10

    private let reader: MetalinkReader
    private let parser: XML_Parser
    private var depth = 0
    private var text: [UInt8] = []
    private var fault: MetalinkFault?

    init(_ reader: MetalinkReader) throws(MetalinkFault) {
        // The separator is a line feed, which a namespace's name cannot contain.
        guard let parser = XML_ParserCreateNS(nil, Self.separator) else {
            throw MetalinkFault("is too large for the free memory")
        }
        self.reader = reader
        self.parser = parser
    }

    deinit { XML_ParserFree(parser) }

    private static let separator = XML_Char(UInt8(ascii: "\n"))

    /// Reads a document and passes its elements to the reader.
    ///
    /// - Throws: the error of the reader, or an error with the line number if the document is not
    ///   well-formed XML in a known encoding.
    func parse(_ document: [UInt8]) throws(MetalinkFault) {
        guard let count = Int32(exactly: document.count) else { throw MetalinkFault("is too long") }
        let status = withExtendedLifetime(self) {
            listen()
            return document.withUnsafeBytes { bytes in
                XML_Parse(parser, bytes.bindMemory(to: CChar.self).baseAddress, count, 1)
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
            { data, name, attributes in
                XMLElements.of(data)?.begin(name, attributes)
            },
            { data, _ in XMLElements.of(data)?.end() }
        )
        XML_SetCharacterDataHandler(parser) { data, bytes, count in
            let text = UnsafeRawBufferPointer(start: bytes, count: Int(max(0, count)))
            XMLElements.of(data)?.take(text)
        }
        XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
            XMLElements.of(data)?.stop(MetalinkFault("has a document type, which is refused"))
        }
    }

    /// Returns the object that a callback belongs to; `parse` keeps it alive while expat runs.
    private static func of(_ data: UnsafeMutableRawPointer?) -> XMLElements? {
        data.map { Unmanaged<XMLElements>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Called by expat

    private func begin(
        _ name: UnsafePointer<XML_Char>?,
        _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) {
        guard fault == nil, let name else { return }
        depth += 1
        text = []
        guard depth <= Self.longestPath else { return stop(MetalinkFault("is nested too deeply")) }
        var values: [String: String] = [:]
        var next = attributes
        // Names and values alternate; a null pointer ends the list.
        while let pair = next, let name = pair[0], let value = pair[1] {
            values[String(cString: name)] = String(cString: value)
            next = pair + 2
        }
        let parts = String(cString: name).split(separator: "\n", maxSplits: 1).map(String.init)
        let space = parts.count == 2 ? parts[0] : ""
        attempt { () throws(MetalinkFault) in
            try reader.begin(parts.last ?? "", in: space, values)
        }
    }

    private func end() {
        guard fault == nil else { return }
        depth -= 1
        let text = String(decoding: text[...].trimmed, as: UTF8.self)
        self.text = []
        attempt { () throws(MetalinkFault) in try reader.end(text: text) }
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
}

extension Metalink {
    /// The version of the loaded expat, for example `2.5.0`; `XML_ExpatVersion`.
    package static var parserVersion: String {
        XML_ExpatVersion().map { String(cString: $0) }?.replacing("expat_", with: "") ?? ""
    }
}
