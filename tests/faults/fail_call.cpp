// A library for LD_PRELOAD that counts calls of the C library, and lets one of them fail or ends
// the process at it.
//
//   THIMBLE_FAULT=NAME:NUMBER:ACTION   Call NUMBER (from 1) of NAME fails. ACTION is an errno,
//                                      `short` (half of the bytes are written), or `kill` (SIGKILL
//                                      before the call).
//   THIMBLE_FAULT_COUNTS=FILE          The calls of each name are counted here when main() returns.
//
// NAMES are those of kNames. `write` and `writev` are one name, as are the functions that open a
// file to write it, those that close one, those that remove a name, and those that allocate memory.
// Writes to standard error are not counted: a message that cannot be printed has no other place.

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <atomic>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

enum Name { kWrite, kOpen, kClose, kRename, kLink, kRemove, kAllocate, kNameCount };
constexpr const char* kNames[] = {"write", "open", "close", "rename", "link", "remove", "allocate"};
constexpr int kShort = -1, kKill = -2;

std::atomic<long> calls[kNameCount];
int fault_name = -1, fault_action = 0;
long fault_number = 0;
bool is_ready = false;  // calls before and after main() are not counted
int (*program_main)(int, char**, char**);

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Counts a call. Returns the action if it is the one that fails, else 0.
int action_of(Name name) {
  if (!is_ready) return 0;
  const long number = ++calls[name];
  if (name != fault_name || number != fault_number) return 0;
  if (fault_action == kKill) raise(SIGKILL);
  return fault_action;
}

/// Returns true if the call fails, with errno set.
bool fails(Name name) {
  const int action = action_of(name);
  if (action <= 0) return false;
  errno = action;
  return true;
}

bool writes(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY;
}

void read_fault() {
  const char* const text = std::getenv("THIMBLE_FAULT");
  char name[16], action[16];
  if (text == nullptr || std::sscanf(text, "%15[a-z]:%ld:%15s", name, &fault_number, action) != 3)
    return;
  for (int i = 0; i < kNameCount; ++i) {
    if (std::strcmp(kNames[i], name) == 0) fault_name = i;
  }
  fault_action = std::strcmp(action, "kill") == 0    ? kKill
                 : std::strcmp(action, "short") == 0 ? kShort
                                                     : std::atoi(action);
}

void write_counts() {
  const char* const path = std::getenv("THIMBLE_FAULT_COUNTS");
  std::FILE* const file = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return;
  for (int i = 0; i < kNameCount; ++i) std::fprintf(file, "%s %ld\n", kNames[i], calls[i].load());
  std::fclose(file);
}

int counted_main(int argc, char** argv, char** environment) {
  read_fault();
  is_ready = true;
  const int result = program_main(argc, argv, environment);
  is_ready = false;
  write_counts();
  return result;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(),
                      void (*fini)(), void (*loader)(), void* stack) {
  using Start =
      int(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  program_main = main;
  return next<Start>("__libc_start_main")(counted_main, argc, argv, init, fini, loader, stack);
}

ssize_t write(int file, const void* bytes, size_t size) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  const int action = file == STDERR_FILENO ? 0 : action_of(kWrite);
  if (action > 0) {
    errno = action;
    return -1;
  }
  return real(file, bytes, action == kShort ? (size + 1) / 2 : size);
}

ssize_t writev(int file, const iovec* parts, int count) {
  static auto* const real = next<ssize_t(int, const iovec*, int)>("writev");
  const int action = file == STDERR_FILENO ? 0 : action_of(kWrite);
  if (action > 0) {
    errno = action;
    return -1;
  }
  if (action == kShort) return ::write(file, parts[0].iov_base, (parts[0].iov_len + 1) / 2);
  return real(file, parts, count);
}

int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list words;
  va_start(words, flags);
  const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(words, unsigned) : 0;
  va_end(words);
  return writes(flags) && fails(kOpen) ? -1 : real(path, flags, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen64");
  return mode[0] != 'r' && fails(kOpen) ? nullptr : real(path, mode);
}

FILE* fopen(const char* path, const char* mode) {
  return fopen64(path, mode);
}

int close(int file) {
  static auto* const real = next<int(int)>("close");
  const bool failed = fails(kClose);
  const int error = errno, result = real(file);
  if (!failed) return result;
  errno = error;
  return -1;
}

int fclose(FILE* file) {
  static auto* const real = next<int(FILE*)>("fclose");
  const bool failed = fails(kClose);
  const int error = errno, result = real(file);
  if (!failed) return result;
  errno = error;
  return EOF;
}

int rename(const char* from, const char* to) {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return fails(kRename) ? -1 : real(from, to);
}

int link(const char* from, const char* to) {
  static auto* const real = next<int(const char*, const char*)>("link");
  return fails(kLink) ? -1 : real(from, to);
}

int unlink(const char* path) {
  static auto* const real = next<int(const char*)>("unlink");
  return fails(kRemove) ? -1 : real(path);
}

int remove(const char* path) {
  static auto* const real = next<int(const char*)>("remove");
  return fails(kRemove) ? -1 : real(path);
}

// Glibc's own names of its allocator: dlsym() itself allocates.
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  return fails(kAllocate) ? nullptr : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  return fails(kAllocate) ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) {
  return fails(kAllocate) ? nullptr : __libc_realloc(old, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return fails(kAllocate) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
  if (fails(kAllocate)) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result != nullptr ? 0 : ENOMEM;
}

}  // extern "C"
