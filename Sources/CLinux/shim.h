// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <libintl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/stat.h>
#include <linux/unix_diag.h>
#include <locale.h>
#include <stddef.h>
#include <sys/statfs.h>

// What glibc declares under _GNU_SOURCE only, or in headers that Swift's Glibc module leaves out.
// That module is built without _GNU_SOURCE, so defining it here comes too late: the declarations
// are repeated, letter by letter from the man pages, and the linker finds glibc's own functions.
// <sys/types.h> stays out, or its mode_t would stand in two modules: off_t is long on every
// platform that Swift for Linux supports.

// renameat2(2), stdio.h: a rename that fails with EEXIST where rename(2) would overwrite.
extern int renameat2(
    int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned int flags);

// fallocate(2), fcntl.h: unlike posix_fallocate(3) it never writes zeros to imitate the kernel.
extern int fallocate(int descriptor, int mode, long offset, long length);

// sync_file_range(2), fcntl.h: the only call that starts to write a file and does not wait.
extern int sync_file_range(int descriptor, long offset, long length, unsigned int flags);

// fsetxattr(2), fgetxattr(2) and fremovexattr(2), sys/xattr.h.
extern int fsetxattr(
    int descriptor, const char *name, const void *value, size_t length, int flags);
extern long fgetxattr(int descriptor, const char *name, void *value, size_t length);
extern int fremovexattr(int descriptor, const char *name);

// statx(2), sys/stat.h: stat(2) with the time of birth; the structure is the kernel's own.
extern int statx(
    int folder, const char *name, int flags, unsigned int mask, struct statx *status);

// pidfd_open(2), sys/pidfd.h, since glibc 2.36; the number of the call is the same everywhere.
extern long syscall(long number, ...);
static inline int clinux_pidfd_open(int process) { return (int)syscall(434, process, 0); }

// posix_spawn_file_actions_addclosefrom_np(3), spawn.h, since glibc 2.34: the child has none of the
// descriptors from this one on. The actions are glibc's own, opaque here.
extern int posix_spawn_file_actions_addclosefrom_np(void *actions, int first);

// spawn.h: a session of the child's own.
static const short CLINUX_POSIX_SPAWN_SETSID = 0x80;

// memfd_create(2), sys/mman.h.
extern int memfd_create(const char *name, unsigned int flags);
static const unsigned int CLINUX_MFD_CLOEXEC = 1;

// fcntl(2), fcntl.h: sets the size of a pipe's buffer.
static const int CLINUX_F_SETPIPE_SZ = 1031;

// newlocale(3), locale.h.
static const int CLINUX_LC_ALL_MASK = LC_ALL_MASK;

// mallopt(3), mallinfo2(3), malloc.h.
extern int mallopt(int parameter, int value);
struct mallinfo2 {
  size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
extern struct mallinfo2 mallinfo2(void);
static const int CLINUX_M_TRIM_THRESHOLD = -1;
static const int CLINUX_M_MMAP_THRESHOLD = -3;
static const int CLINUX_M_ARENA_MAX = -8;

// The kernel's ABI, linux/fs.h and linux/falloc.h: values that can never change.
static const unsigned int CLINUX_RENAME_NOREPLACE = 1u << 0;
static const int CLINUX_FALLOC_FL_KEEP_SIZE = 0x01;
static const unsigned int CLINUX_SYNC_FILE_RANGE_WRITE = 2;
static const int CLINUX_AT_EMPTY_PATH = 0x1000;
static const int CLINUX_AT_STATX_DONT_SYNC = 0x4000;
// futimens(3), sys/stat.h: leaves a time as it is.
static const long CLINUX_UTIME_OMIT = (1l << 30) - 2l;
// open(2), fcntl.h: to be given with O_DIRECTORY, for kernels that do not know it.
#ifdef __O_TMPFILE
static const int CLINUX_O_TMPFILE = __O_TMPFILE;
#else
static const int CLINUX_O_TMPFILE = 020000000;
#endif
static const unsigned int CLINUX_STATX_WANTED = STATX_BASIC_STATS | STATX_BTIME;
