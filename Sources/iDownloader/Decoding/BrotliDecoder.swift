// SPDX-License-Identifier: Apache-2.0

import CCompression

/// Decodes br (RFC 7932), which has no checksum.
///
/// Bytes behind the end of the stream are a flaw.
final class BrotliDecoder: StreamDecoder {
    private let state: OpaquePointer

    init() throws(ContentDecoder.Flaw) {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { throw .noMemory }
        self.state = state
    }

    deinit { BrotliDecoderDestroyInstance(state) }

    var isAtEnd: Bool { BrotliDecoderIsFinished(state) != 0 }

    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecoder.Flaw) -> Int {
        guard !isAtEnd else {
            guard input.isEmpty else { throw .damaged }
            return 0
        }
        var (left, room) = (input.count, output.count)
        var next = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var free = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = BrotliDecoderDecompressStream(state, &left, &next, &room, &free, nil)
        let (used, written) = (input.count - left, output.count - room)
        input.advance(by: used)
        switch result {
        case BROTLI_DECODER_RESULT_SUCCESS where input.isEmpty: break
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT where input.isEmpty: break
        case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT where written > 0: break
        case BROTLI_DECODER_RESULT_ERROR where isOutOfMemory: throw .noMemory
        default: throw .damaged
        }
        return written
    }

    private var isOutOfMemory: Bool {
        let last = BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES.rawValue
        let first = BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES.rawValue
        return (last...first).contains(BrotliDecoderGetErrorCode(state).rawValue)
    }
}
