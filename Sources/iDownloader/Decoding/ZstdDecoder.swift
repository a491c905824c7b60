// SPDX-License-Identifier: Apache-2.0

import CCompression

/// Decodes zstd (RFC 8878), which may have several frames.
final class ZstdDecoder: StreamDecoder {
    /// The largest window that a decoder has to support (RFC 9659): 8 MiB, as a power of 2.
    private static let largestWindow: Int32 = 23

    private let context: OpaquePointer
    private(set) var isAtEnd = false
    /// Whether more output may follow without more input.
    private var isFull = false

    init() throws(ContentDecoder.Flaw) {
        guard let context = ZSTD_createDCtx() else { throw .noMemory }
        self.context = context
        let code = ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.largestWindow)
        guard ZSTD_isError(code) == 0 else { throw .noMemory }
    }

    deinit { ZSTD_freeDCtx(context) }

    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecoder.Flaw) -> Int {
        // zstd treats a call without input as the beginning of another frame, or as an error.
        guard isFull || !input.isEmpty else { return 0 }
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        repeat {
            let code = ZSTD_decompressStream(context, &target, &source)
            guard ZSTD_isError(code) == 0 else {
                switch ZSTD_getErrorCode(code) {
                case ZSTD_error_memory_allocation: throw .noMemory
                case ZSTD_error_frameParameter_windowTooLarge: throw .tooLarge
                default: throw .damaged
                }
            }
            isAtEnd = code == 0
        } while target.pos < target.size && source.pos < source.size
        isFull = target.pos == target.size && !isAtEnd
        input.advance(by: source.pos)
        return target.pos
    }
}
