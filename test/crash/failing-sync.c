/* Preloaded before libc: every sync fails with EIO for as long as the file named by FAIL_SYNC_WHILE exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int sync_with(const char *name, int fd) {
  const char *flag = getenv("FAIL_SYNC_WHILE");
  if (flag != NULL && access(flag, F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(fd);
}

int fsync(int fd) { return sync_with("fsync", fd); }
int fdatasync(int fd) { return sync_with("fdatasync", fd); }
