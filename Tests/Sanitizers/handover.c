// SPDX-License-Identifier: Apache-2.0
// Tells the thread sanitizer of what it cannot see: a `Mutex` that goes from one thread to the next.
//
// On Linux Swift's `Mutex` (module Synchronization) is a futex. What is emitted into the caller,
// taking and leaving a lock that nobody waits for, is an atomic exchange that the sanitizer sees;
// waiting and waking are functions of libswiftSynchronization.so, which it does not. Each is put
// between here, by LD_PRELOAD. A toolchain that calls them otherwise brings the reports back.
//
// The functions are methods, and have Swift's calling convention (clang, "Attributes in Clang",
// swiftcall, swift_context): the lock comes in the register of `self`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *lock

// _MutexHandle._lockSlow(_: UInt32), ._tryLockSlow() -> Bool, ._unlockSlow()
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// The sanitizer's own, in the program that is looked at.
extern void __tsan_acquire(void *);
extern void __tsan_release(void *);
#pragma weak __tsan_acquire
#pragma weak __tsan_release

static SWIFT void (*wait_to_lock)(uint32_t thread, SELF);
static SWIFT _Bool (*try_to_lock)(SELF);
static SWIFT void (*unlock_and_wake)(SELF);

__attribute__((constructor)) static void find(void) {
    wait_to_lock = dlsym(RTLD_NEXT, LOCK);
    try_to_lock = dlsym(RTLD_NEXT, TRY_LOCK);
    unlock_and_wake = dlsym(RTLD_NEXT, UNLOCK);
    // Servers that the tests start are none of this.
    unsetenv("LD_PRELOAD");
}

SWIFT void handover_lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void handover_lock(uint32_t thread, SELF) {
    wait_to_lock(thread, lock);
    if (__tsan_acquire) __tsan_acquire(lock);
}

SWIFT _Bool handover_try_lock(SELF) __asm__(TRY_LOCK);
SWIFT _Bool handover_try_lock(SELF) {
    if (!try_to_lock(lock)) return 0;
    if (__tsan_acquire) __tsan_acquire(lock);
    return 1;
}

SWIFT void handover_unlock(SELF) __asm__(UNLOCK);
SWIFT void handover_unlock(SELF) {
    // Before: from then on it is the next one's.
    if (__tsan_release) __tsan_release(lock);
    unlock_and_wake(lock);
}
