// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

extension Transfer {
    /// Where the complete file is a metalink, adds the files that it lists to the list of tasks.
    ///
    /// Runs before the metalink gets its name, because after a crash in between the files might never
    /// be added. Such a crash has the next attempt add them once more, which finds their tasks.
    ///
    /// What is listed is no metalink again: two that list each other would go on for ever. So of a
    /// file that has its name already, as all that are listed have, the name alone tells.
    ///
    /// - Throws: `Server.BadResponse` where it is none: whoever asks for a metalink wants the files.
    func addListedFiles() async throws(TransferEnd) {
        let mimeType = job.request.fileName == nil ? content.known.mimeType : ""
        guard let part = target.part, let file = target.file,
            Metalink.isMeant(mimeType: mimeType, name: file.name)
        else { return }
        let size = content.size
        let schemes = Self.schemes
        let result = try await target.disk {
            () throws(FileError) -> Result<Metalink, MetalinkFault> in
            guard size <= Metalink.longestDocument else {
                return .failure(MetalinkFault("is longer than \(Metalink.longestDocument) bytes"))
            }
            let document = try part.bytes(from: 0, to: size)
            return Result { () throws(MetalinkFault) in try Metalink(document, schemes: schemes) }
        }
        let metalink: Metalink
        switch result {
        case .success(let read): metalink = read
        case .failure(let fault):
            fetch.content.giveUp()
            throw .failed(.badResponse("is a metalink that \(fault.message)"))
        }
        let (request, home) = (job.request, home)
        let listed = metalink.files.compactMap { file in
            var file = file
            file.urls = file.urls.filter { mayBeListed($0) }
            let listed = ListedFile(file, of: request, at: home)
            let isMetalink = Metalink.isMeant(mimeType: "", name: listed.request.fileName ?? "")
            return file.urls.isEmpty || isMetalink ? nil : listed
        }
        try await ledger.add(listed)
    }
}

extension Transfer {
    /// Whether a URL leads no nearer than to where its metalink came from.
    ///
    /// A site out there has no business in sending us to this machine. A name tells nothing before
    /// it is looked up.
    private func mayBeListed(_ url: String) -> Bool {
        guard let furthestHost, let url = try? URLReference(url) else { return true }
        return Hop(url: url, home: home, reach: nil).apparentReach >= furthestHost
    }
}
