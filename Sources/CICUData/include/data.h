// SPDX-License-Identifier: Apache-2.0
// Nothing is declared: only the linker uses this target.
