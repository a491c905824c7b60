// SPDX-License-Identifier: Apache-2.0
//
// Loaded before libfaketime, which moves the end of every timer with the calendar that it shows,
// also of those by a clock that nobody sets: after a clock set back they would not end for hours.

#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old)
{
    return (int)syscall(SYS_timerfd_settime, descriptor, flags, new, old);
}
