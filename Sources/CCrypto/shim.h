// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
