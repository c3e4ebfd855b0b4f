/*
 * Records what a process does to the files below a folder, in the order in which it happens: LD_PRELOAD it, with
 * RECORD_FOLDER and RECORD_TO in the environment. Each record is: kind (1 byte), file (8 bytes), two numbers (8 bytes
 * each), and two texts or the bytes written, each with its length (4 bytes) before it. Numbers are little-endian.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FDS 4096

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static size_t folder_length;
static int log_fd = -1;
/* of each open file below the folder: its inode, else 0 */
static uint64_t files[MAX_FDS];
/* inodes that were seen: held open, so that none is used twice */
static uint64_t seen[MAX_FDS];
static int seen_count;

#define REAL(result, name, ...) static result (*real_##name)(__VA_ARGS__)
REAL(int, open, const char *, int, ...);
REAL(int, openat, int, const char *, int, ...);
REAL(int, close, int);
REAL(ssize_t, write, int, const void *, size_t);
REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
REAL(ssize_t, writev, int, const struct iovec *, int);
REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t);
REAL(int, ftruncate, int, off_t);
REAL(int, fsync, int);
REAL(int, fdatasync, int);
REAL(int, rename, const char *, const char *);
REAL(int, link, const char *, const char *);
REAL(int, unlink, const char *);
REAL(int, remove, const char *);
REAL(int, unlinkat, int, const char *, int);
REAL(int, mkdir, const char *, mode_t);
REAL(int, rmdir, const char *);
REAL(char *, mkdtemp, char *);
REAL(int, posix_fallocate, int, off_t, off_t);

#define FIND(name) real_##name = (void *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
  FIND(open); FIND(openat); FIND(close); FIND(write); FIND(pwrite); FIND(writev); FIND(pwritev); FIND(ftruncate);
  FIND(fsync); FIND(fdatasync); FIND(rename); FIND(link); FIND(unlink); FIND(unlinkat); FIND(remove); FIND(mkdir); FIND(rmdir); FIND(mkdtemp);
  FIND(posix_fallocate);
  const char *to = getenv("RECORD_TO");
  folder = getenv("RECORD_FOLDER");
  if (to == NULL || folder == NULL) { folder = NULL; return; }
  folder_length = strlen(folder);
  log_fd = real_open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void record(char kind, uint64_t file, uint64_t a, uint64_t b, const void *one, size_t n, const void *two, size_t m) {
  uint32_t n32 = (uint32_t)n, m32 = (uint32_t)m;
  struct iovec parts[] = {{&kind, 1}, {&file, 8}, {&a, 8}, {&b, 8}, {&n32, 4}, {(void *)one, n}, {&m32, 4}, {(void *)two, m}};
  if (real_writev(log_fd, parts, 8) != (ssize_t)(33 + n + m)) abort();
}

static int ends_with(const char *path, const char *end) {
  size_t n = strlen(path), m = strlen(end);
  return n >= m && strcmp(path + n - m, end) == 0;
}

/* The shared memory of a WAL and the lock are worth nothing after a start. */
static int is_ours(const char *path) {
  return folder != NULL && strncmp(path, folder, folder_length) == 0 && !ends_with(path, "-shm") && strstr(path, "/lock.db") == NULL;
}

static void record_names(char kind, const char *one, const char *two) {
  record(kind, 0, 0, 0, one, strlen(one), two, two == NULL ? 0 : strlen(two));
}

static uint64_t inode_of(int fd, int *is_folder) {
  struct stat found;
  if (fstat(fd, &found) != 0) return 0;
  *is_folder = S_ISDIR(found.st_mode);
  return found.st_ino;
}

static void opened(int fd, const char *path, int flags, int is_new) {
  if (fd < 0) return;
  if (fd >= MAX_FDS) abort();
  int is_folder = 0;
  uint64_t file = inode_of(fd, &is_folder);
  files[fd] = file;
  if (is_folder) return;
  int is_known = 0;
  for (int i = 0; i < seen_count; i++) is_known |= seen[i] == file;
  if (!is_known) {
    if (seen_count == MAX_FDS) abort();
    seen[seen_count++] = file;
    fcntl(fd, F_DUPFD_CLOEXEC, 1000);
  }
  if (is_new) record('C', file, 0, 0, path, strlen(path), NULL, 0);
  else if (flags & O_TRUNC) record('T', file, 0, 0, NULL, 0, NULL, 0);
}

static int open_path(int at, const char *path, int flags, mode_t mode) {
  if (!is_ours(path)) return real_openat(at, path, flags, mode);
  pthread_mutex_lock(&turn);
  int is_new = (flags & O_CREAT) && access(path, F_OK) != 0;
  int fd = real_openat(at, path, flags, mode);
  int failure = errno;
  opened(fd, path, flags, is_new);
  pthread_mutex_unlock(&turn);
  errno = failure;
  return fd;
}

#define MODE(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }

int open(const char *path, int flags, ...) { MODE(flags) return open_path(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_path(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return open_path(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return open_path(at, path, flags, mode); }

/* A descriptor closed unseen (closedir, close_range) may stand for a socket by now. */
static int is_file(int fd) {
  if (fd < 0 || fd >= MAX_FDS || files[fd] == 0) return 0;
  struct stat found;
  if (fstat(fd, &found) == 0 && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode)) && found.st_ino == files[fd]) return 1;
  files[fd] = 0;
  return 0;
}

int close(int fd) {
  if (!is_file(fd)) return real_close(fd);
  pthread_mutex_lock(&turn);
  files[fd] = 0;
  int result = real_close(fd);
  int failure = errno;
  pthread_mutex_unlock(&turn);
  errno = failure;
  return result;
}

/* `offset` below 0: where the file stands */
static ssize_t write_parts(int fd, const struct iovec *parts, int count, off_t offset) {
  pthread_mutex_lock(&turn);
  struct stat found;
  off_t at = offset;
  if (offset < 0) at = fcntl(fd, F_GETFL) & O_APPEND && fstat(fd, &found) == 0 ? found.st_size : lseek(fd, 0, SEEK_CUR);
  if (at < 0) abort();
  ssize_t written = offset < 0 ? real_writev(fd, parts, count) : real_pwritev(fd, parts, count, offset);
  int failure = errno;
  ssize_t left = written;
  for (int i = 0; i < count && left > 0; i++) {
    size_t size = (ssize_t)parts[i].iov_len < left ? parts[i].iov_len : (size_t)left;
    record('W', files[fd], at, size, parts[i].iov_base, size, NULL, 0);
    at += size;
    left -= size;
  }
  pthread_mutex_unlock(&turn);
  errno = failure;
  return written;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  if (!is_file(fd)) return real_write(fd, bytes, size);
  struct iovec part = {(void *)bytes, size};
  return write_parts(fd, &part, 1, -1);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
  if (!is_file(fd)) return real_pwrite(fd, bytes, size, offset);
  struct iovec part = {(void *)bytes, size};
  return write_parts(fd, &part, 1, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset) { return pwrite(fd, bytes, size, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
  return is_file(fd) ? write_parts(fd, parts, count, -1) : real_writev(fd, parts, count);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  return is_file(fd) ? write_parts(fd, parts, count, offset) : real_pwritev(fd, parts, count, offset);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t offset) { return pwritev(fd, parts, count, offset); }

/* What is not recorded must not happen. */
int posix_fallocate(int fd, off_t offset, off_t size) {
  if (is_file(fd)) abort();
  return real_posix_fallocate(fd, offset, size);
}

#define RECORDED(condition, call, note) \
  if (!(condition)) return call; \
  pthread_mutex_lock(&turn); \
  int result = call; \
  int failure = errno; \
  if (result == 0) { note; } \
  pthread_mutex_unlock(&turn); \
  errno = failure; \
  return result;

int ftruncate(int fd, off_t size) { RECORDED(is_file(fd), real_ftruncate(fd, size), record('T', files[fd], size, 0, NULL, 0, NULL, 0)) }
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

static void synced(int fd) {
  char link_name[64], path[PATH_MAX];
  int is_folder = 0;
  uint64_t file = inode_of(fd, &is_folder);
  if (!is_folder) { record('S', file, 0, 0, NULL, 0, NULL, 0); return; }
  snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link_name, path, sizeof path - 1);
  if (length < 0) abort();
  record('F', 0, 0, 0, path, length, NULL, 0);
}
int fsync(int fd) { RECORDED(is_file(fd), real_fsync(fd), synced(fd)) }
int fdatasync(int fd) { RECORDED(is_file(fd), real_fdatasync(fd), synced(fd)) }

int rename(const char *from, const char *to) { RECORDED(is_ours(to), real_rename(from, to), record_names('R', from, to)) }
int link(const char *from, const char *to) { RECORDED(is_ours(to), real_link(from, to), record_names('L', from, to)) }
int unlink(const char *path) { RECORDED(is_ours(path), real_unlink(path), record_names('U', path, NULL)) }
int unlinkat(int at, const char *path, int flags) { RECORDED(is_ours(path), real_unlinkat(at, path, flags), record_names('U', path, NULL)) }
int remove(const char *path) { RECORDED(is_ours(path), real_remove(path), record_names('U', path, NULL)) }
int rmdir(const char *path) { RECORDED(is_ours(path), real_rmdir(path), record_names('U', path, NULL)) }
int mkdir(const char *path, mode_t mode) { RECORDED(is_ours(path), real_mkdir(path, mode), record_names('M', path, NULL)) }
char *mkdtemp(char *pattern) {
  if (!is_ours(pattern)) return real_mkdtemp(pattern);
  pthread_mutex_lock(&turn);
  char *made = real_mkdtemp(pattern);
  int failure = errno;
  if (made != NULL) record_names('M', made, NULL);
  pthread_mutex_unlock(&turn);
  errno = failure;
  return made;
}
