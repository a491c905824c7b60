// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <brotli/decode.h>
#include <stddef.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>
