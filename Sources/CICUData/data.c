// SPDX-License-Identifier: Apache-2.0

// An archive of ICU's data without entries, in place of the one that Foundation brings.
//
// GRDB imports Foundation, and Foundation brings ICU with 34 MB of data about languages, calendars
// and time zones. idownd uses none of it: it stores numbers, texts and bytes, and formats no date.
// The linker takes an object of the archive lib_FoundationICU.a only for a name that is still
// missing, so the data stays out because its name is defined here. ICU itself provides for that: it
// is built first with an archive like this one ("stubdata"), and answers U_MISSING_RESOURCE_ERROR or
// U_FILE_ACCESS_ERROR where it needs an entry.
//
// So these do not work in idownd: DateFormatter, Calendar, Locale, time zones by name,
// String.capitalized, and regular expressions with Unicode's word boundaries. GRDB uses them for
// columns of type Date and for names that it makes from the names of types; the store of idown has
// neither. Our own code cannot use them, since .ci/imports forbids Foundation.
//
// The name holds ICU's version. A toolchain with another version links all data: idownd works, but is
// as large as before, and `make packages` fails.

#include <stdint.h>

// ICU's DataHeader and the head of a "ToCP" archive, udatamem.h and ucmndata.h.
struct archive {
    uint16_t headerSize;
    uint8_t magic[2];
    uint16_t infoSize, reservedWord;
    uint8_t isBigEndian, charsetFamily, sizeofUChar, reservedByte;
    uint8_t dataFormat[4], formatVersion[4], dataVersion[4];
    uint8_t padding[8];
    uint32_t count, reserved;
};

__attribute__((aligned(16))) const struct archive icudt76_dat = {
    .headerSize = 32,
    .magic = {0xda, 0x27},
    .infoSize = 20,
    .isBigEndian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
    .sizeofUChar = 2,
    .dataFormat = {'T', 'o', 'C', 'P'},
    .formatVersion = {1},
};
