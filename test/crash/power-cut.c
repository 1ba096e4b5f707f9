/*
 * Preloaded before libc: keeps, beside every file below POWER_CUT_FILES, what a disk would hold of it if the power went
 * now. Written bytes reach that copy (the same name below POWER_CUT_DISK) for sure only with a sync. Until then each
 * sector of a write gets there at once or not at all, by the dice of POWER_CUT_SEED: disks write what they like first.
 * With POWER_CUT_LIE set, a sync does nothing, as on a disk that lies about it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 64
#define FDS_MAX 4096
#define SECTOR 512

struct change {
  struct change *next;
  off_t offset;
  size_t length;
  int is_cut; /* The file ends at the offset; otherwise bytes follow. */
  char bytes[];
};

struct file {
  char name[PATH_MAX];
  int disk;
  struct change *first, **end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file files[FILES_MAX];
static int files_known;
static struct file *file_of_fd[FDS_MAX];
static unsigned dice;

static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_unlink)(const char *);

__attribute__((constructor)) static void begin(void) {
  real_open = dlsym(RTLD_NEXT, "open64");
  real_close = dlsym(RTLD_NEXT, "close");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_write = dlsym(RTLD_NEXT, "write");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  const char *seed = getenv("POWER_CUT_SEED");
  dice = seed == NULL ? 1 : (unsigned)atoi(seed);
}

/* The name of the copy, or 0 for files of no interest; the index of the journal is rebuilt after a cut. */
static int disk_name(const char *path, char *name) {
  const char *watched = getenv("POWER_CUT_FILES"), *disk = getenv("POWER_CUT_DISK");
  size_t length = watched == NULL ? 0 : strlen(watched);
  if (disk == NULL || length == 0 || strncmp(path, watched, length) != 0) return 0;
  size_t end = strlen(path);
  if (end > 4 && strcmp(path + end - 4, "-shm") == 0) return 0;
  snprintf(name, PATH_MAX, "%s%s", disk, path + length);
  return 1;
}

static struct file *file_named(const char *name) {
  for (int i = 0; i < files_known; i++)
    if (strcmp(files[i].name, name) == 0) return &files[i];
  if (files_known == FILES_MAX) abort();
  struct file *file = &files[files_known++];
  strcpy(file->name, name);
  file->disk = -1;
  file->first = NULL;
  file->end = &file->first;
  return file;
}

static int opened(const char *path, int fd) {
  char name[PATH_MAX];
  if (fd < 0 || fd >= FDS_MAX || !disk_name(path, name)) return fd;
  pthread_mutex_lock(&lock);
  file_of_fd[fd] = file_named(name);
  pthread_mutex_unlock(&lock);
  return fd;
}

static struct file *watched(int fd) { return fd >= 0 && fd < FDS_MAX ? file_of_fd[fd] : NULL; }

static void to_disk(struct file *file, const char *bytes, size_t length, off_t offset) {
  if (file->disk < 0) file->disk = real_open(file->name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file->disk < 0 || real_pwrite(file->disk, bytes, length, offset) != (ssize_t)length) abort();
}

static void remember(struct file *file, const char *bytes, size_t length, off_t offset, int is_cut) {
  pthread_mutex_lock(&lock);
  struct change *change = malloc(sizeof(struct change) + length);
  *change = (struct change){NULL, offset, length, is_cut};
  if (length > 0) memcpy(change->bytes, bytes, length);
  *file->end = change;
  file->end = &change->next;
  for (size_t at = 0; at < length; at += SECTOR)
    if (rand_r(&dice) % 4 == 0)
      to_disk(file, bytes + at, length - at < SECTOR ? length - at : SECTOR, offset + (off_t)at);
  pthread_mutex_unlock(&lock);
}

static int synced(int fd) {
  struct file *file = watched(fd);
  if (file == NULL || getenv("POWER_CUT_LIE") != NULL) return 0;
  pthread_mutex_lock(&lock);
  for (struct change *change = file->first, *next; change != NULL; change = next) {
    to_disk(file, change->bytes, change->length, change->offset);
    if (change->is_cut && real_ftruncate(file->disk, change->offset) != 0) abort();
    next = change->next;
    free(change);
  }
  file->first = NULL;
  file->end = &file->first;
  pthread_mutex_unlock(&lock);
  return 0;
}

static int open_with(const char *path, int flags, mode_t mode) { return opened(path, real_open(path, flags, mode)); }

#define WITH_MODE(last)         \
  va_list rest;                 \
  va_start(rest, last);         \
  mode_t mode = va_arg(rest, int); \
  va_end(rest)

int open(const char *path, int flags, ...) {
  WITH_MODE(flags);
  return open_with(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  WITH_MODE(flags);
  return open_with(path, flags, mode);
}
int close(int fd) {
  if (watched(fd) != NULL) file_of_fd[fd] = NULL;
  return real_close(fd);
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset) {
  ssize_t written = real_pwrite(fd, bytes, length, offset);
  if (written > 0 && watched(fd) != NULL) remember(watched(fd), bytes, (size_t)written, offset, 0);
  return written;
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }
ssize_t write(int fd, const void *bytes, size_t length) {
  struct file *file = watched(fd);
  off_t offset = file == NULL ? 0 : lseek(fd, 0, SEEK_CUR);
  ssize_t written = real_write(fd, bytes, length);
  if (written > 0 && file != NULL) remember(file, bytes, (size_t)written, offset, 0);
  return written;
}
int ftruncate64(int fd, off_t length) {
  int failed = real_ftruncate(fd, length);
  if (failed == 0 && watched(fd) != NULL) remember(watched(fd), NULL, 0, length, 1);
  return failed;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }
int fsync(int fd) { return synced(fd); }
int fdatasync(int fd) { return synced(fd); }
int unlink(const char *path) {
  char name[PATH_MAX];
  if (disk_name(path, name)) {
    pthread_mutex_lock(&lock);
    struct file *file = file_named(name);
    for (struct change *change = file->first, *next; change != NULL; change = next) {
      next = change->next;
      free(change);
    }
    file->first = NULL;
    file->end = &file->first;
    if (file->disk >= 0) real_close(file->disk);
    file->disk = -1;
    real_unlink(name);
    pthread_mutex_unlock(&lock);
  }
  return real_unlink(path);
}
