/* Writes down what a process does to the files of one folder, in order, for power_cut.py.

   LD_PRELOAD=this POWER_CUT_FOLDER=/folder POWER_CUT_LOG=/elsewhere/log python ...
   A record is a line "what path offset length" and then that many bytes.  */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static char *paths[4096];
static int out = -1;

static int watched(const char *path)
{
    const char *folder = getenv("POWER_CUT_FOLDER");
    return folder && path && !strncmp(path, folder, strlen(folder));
}

static void record(const char *what, const char *path, long offset, const void *data, long length)
{
    char line[4600];
    if (out < 0)
        out = syscall(SYS_openat, AT_FDCWD, getenv("POWER_CUT_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    int size = snprintf(line, sizeof line, "%s\t%s\t%ld\t%ld\n", what, path, offset, length);
    syscall(SYS_write, out, line, size);
    if (length > 0)
        syscall(SYS_write, out, data, length);
}

static const char *path_of(int fd)
{
    return fd >= 0 && fd < 4096 ? paths[fd] : NULL;
}

static int opened(int fd, const char *path, int flags)
{
    if (fd < 0 || fd >= 4096)
        return fd;
    free(paths[fd]);
    paths[fd] = watched(path) ? strdup(path) : NULL;
    if (paths[fd] && (flags & O_CREAT))
        record("create", path, 0, NULL, 0);
    if (paths[fd] && (flags & O_TRUNC))
        record("cut", path, 0, NULL, 0);
    return fd;
}

static int open_any(const char *path, int flags, va_list given)
{
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(given, mode_t) : 0;
    return opened(syscall(SYS_openat, AT_FDCWD, path, flags, mode), path, flags);
}

int open(const char *path, int flags, ...)
{
    va_list given;
    va_start(given, flags);
    int fd = open_any(path, flags, given);
    va_end(given);
    return fd;
}

int open64(const char *path, int flags, ...)
{
    va_list given;
    va_start(given, flags);
    int fd = open_any(path, flags | O_LARGEFILE, given);
    va_end(given);
    return fd;
}

int close(int fd)
{
    if (path_of(fd)) {
        free(paths[fd]);
        paths[fd] = NULL;
    }
    return syscall(SYS_close, fd);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset)
{
    ssize_t done = syscall(SYS_pwrite64, fd, data, length, offset);
    if (done > 0 && path_of(fd))
        record("write", path_of(fd), offset, data, done);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    return pwrite64(fd, data, length, offset);
}

ssize_t write(int fd, const void *data, size_t length)
{
    ssize_t done = syscall(SYS_write, fd, data, length);
    if (done > 0 && path_of(fd))  /* what is appended to a file begins where only its end tells */
        record("write", path_of(fd), syscall(SYS_lseek, fd, 0, SEEK_CUR) - done, data, done);
    return done;
}

int ftruncate64(int fd, off64_t length)
{
    int failed = syscall(SYS_ftruncate, fd, length);
    if (!failed && path_of(fd))
        record("cut", path_of(fd), length, NULL, 0);
    return failed;
}

int ftruncate(int fd, off_t length)
{
    return ftruncate64(fd, length);
}

int fsync(int fd)
{
    int failed = syscall(SYS_fsync, fd);
    if (!failed && path_of(fd))
        record("sync", path_of(fd), 0, NULL, 0);
    return failed;
}

int fdatasync(int fd)
{
    int failed = syscall(SYS_fdatasync, fd);
    if (!failed && path_of(fd))
        record("sync", path_of(fd), 0, NULL, 0);
    return failed;
}

int unlink(const char *path)
{
    int failed = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (!failed && watched(path))
        record("unlink", path, 0, NULL, 0);
    return failed;
}

int link(const char *old, const char *path)
{
    int failed = syscall(SYS_linkat, AT_FDCWD, old, AT_FDCWD, path, 0);
    if (!failed && watched(path))
        record("link", path, 0, old, strlen(old));
    return failed;
}
