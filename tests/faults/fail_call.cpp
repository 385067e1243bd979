// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD that counts calls of the C library, and lets one of them fail or ends
// the process at it.
//
//   THIMBLE_FAULT=NAME:NUMBER:ACTION   Call NUMBER (from 1) of NAME fails. ACTION is an errno,
//                                      `short` (half of the bytes are written or read), or `kill`
//                                      (SIGKILL before the call).
//   THIMBLE_FAULT_COUNTS=FILE          The calls of each name are counted here when main() returns.
//   THIMBLE_FAULT_FORK=FOLDER:FIRST:STEP
//                                      Allocation FIRST and every STEP-th one after it fails, each
//                                      in a child process that is made there, so that the work
//                                      before it is done once. The child works in FOLDER/NUMBER,
//                                      where it first writes the files THIMBLE_FAULT_OLD, names
//                                      separated by colons, with the content of kOldContent. Its
//                                      messages are in FOLDER/NUMBER.text. FOLDER/results has a
//                                      line `NUMBER STATUS` for each, STATUS as of waitpid(). A
//                                      child has only one thread, so set THIMBLE_THREADS=1.
//                                      No child is created after the first getcwd(), with which the
//                                      program makes the names of its outputs.
//
// NAMES are those of kNames. `write` and `writev` are one name, as are the functions that open a
// file to write it (`open`), those that open one to read it (`openread`), those that close one,
// those that remove a name, and those that allocate memory. Writes to standard error are not
// counted: a message that cannot be printed has no other place.

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <atomic>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

enum Name {
  kWrite,
  kRead,
  kOpen,
  kOpenRead,
  kClose,
  kRename,
  kLink,
  kRemove,
  kMakeFolder,
  kAllocate,
  kNameCount
};
constexpr const char* kNames[] = {"write",  "read", "open",   "openread", "close",
                                  "rename", "link", "remove", "mkdir",    "allocate"};
constexpr int kShort = -1, kKill = -2;

std::atomic<long> calls[kNameCount];
int fault_name = -1, fault_action = 0;
long fault_number = 0;
bool is_ready = false;  // calls before and after main() are not counted
int (*program_main)(int, char**, char**);

constexpr char kOldContent[] = "old content";
constexpr unsigned kChildSecondsMax = 60;
char fork_folder[512];  // empty: no children
long fork_first = 1, fork_step = 1;
bool knows_folder = false;  // getcwd() was called

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

void write_text(const char* path, const char* text, size_t bytes) {
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file < 0 || ::write(file, text, bytes) != static_cast<ssize_t>(bytes)) _exit(99);
  ::close(file);
}

/// The child: a folder of its own with the old files, and its messages in a file.
void enter_child_folder(long number) {
  char path[600];
  std::snprintf(path, sizeof path, "%s/%ld.text", fork_folder, number);
  const int text = ::open(path, O_WRONLY | O_CREAT, 0666);
  dup2(text, STDERR_FILENO);
  const int nothing = ::open("/dev/null", O_WRONLY);
  dup2(nothing, STDOUT_FILENO);
  std::snprintf(path, sizeof path, "%s/%ld", fork_folder, number);
  if (text < 0 || nothing < 0 || mkdir(path, 0777) != 0 || chdir(path) != 0) _exit(98);
  const char* names = std::getenv("THIMBLE_FAULT_OLD");
  while (names != nullptr && *names != 0) {
    const size_t length = std::strcspn(names, ":");
    std::snprintf(path, sizeof path, "%.*s", static_cast<int>(length), names);
    for (char* slash = std::strchr(path, '/'); slash != nullptr;
         slash = std::strchr(slash + 1, '/')) {
      *slash = 0;
      mkdir(path, 0777);
      *slash = '/';
    }
    write_text(path, kOldContent, sizeof kOldContent - 1);
    names += length + (names[length] == ':' ? 1 : 0);
  }
  alarm(kChildSecondsMax);
}

/// Counts an allocation. There are no children after the program has asked for its folder, from
/// which it makes the names of its outputs: the child's folder is another one. Returns true if the
/// allocation fails, with errno set.
bool allocation_fails() {
  if (!is_ready || fork_folder[0] == 0) return fails(kAllocate);
  const long number = ++calls[kAllocate];
  if (knows_folder || number < fork_first || (number - fork_first) % fork_step != 0) return false;
  is_ready = false;  // calls of this library are not counted
  const pid_t child = fork();
  if (child == 0) {
    enter_child_folder(number);
    errno = ENOMEM;
    return true;
  }
  int status = -1;
  if (child > 0) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  char path[600], line[64];
  std::snprintf(path, sizeof path, "%s/results", fork_folder);
  const int length = std::snprintf(line, sizeof line, "%ld %d\n", number, status);
  write_text(path, line, static_cast<size_t>(length));
  is_ready = true;
  return false;
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

void read_fork() {
  const char* const text = std::getenv("THIMBLE_FAULT_FORK");
  if (text == nullptr) return;
  if (std::sscanf(text, "%511[^:]:%ld:%ld", fork_folder, &fork_first, &fork_step) != 3) _exit(97);
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
  read_fork();
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

ssize_t read(int file, void* bytes, size_t size) {
  static auto* const real = next<ssize_t(int, void*, size_t)>("read");
  const int action = action_of(kRead);
  if (action > 0) {
    errno = action;
    return -1;
  }
  return real(file, bytes, action == kShort ? (size + 1) / 2 : size);
}

int mkdir(const char* path, mode_t mode) {
  static auto* const real = next<int(const char*, mode_t)>("mkdir");
  return fails(kMakeFolder) ? -1 : real(path, mode);
}

int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list words;
  va_start(words, flags);
  const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(words, unsigned) : 0;
  va_end(words);
  return fails(writes(flags) ? kOpen : kOpenRead) ? -1 : real(path, flags, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen64");
  return fails(mode[0] != 'r' ? kOpen : kOpenRead) ? nullptr : real(path, mode);
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

char* getcwd(char* path, size_t size) {
  static auto* const real = next<char*(char*, size_t)>("getcwd");
  if (is_ready) knows_folder = true;
  return real(path, size);
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
  return allocation_fails() ? nullptr : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  return allocation_fails() ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) {
  return allocation_fails() ? nullptr : __libc_realloc(old, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return allocation_fails() ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
  if (allocation_fails()) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result != nullptr ? 0 : ENOMEM;
}

}  // extern "C"
