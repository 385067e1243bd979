// run_process for POSIX systems. The child leads a process group of its own, so that whatever it
// started dies with it at the limit. A child may end while one of its own children still holds the
// pipe; so the end of the child, not of the output, ends the wait.

#if !defined(_WIN32)

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/process.h"

extern char** environ;

namespace thimble::base {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval{20};

/// The read end stays with us, without blocking; the write end is the child's.
struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe(ends) != 0) return;
    read_end = ends[0];
    write_end = ends[1];
    fcntl(read_end, F_SETFD, FD_CLOEXEC);
    fcntl(write_end, F_SETFD, FD_CLOEXEC);
    fcntl(read_end, F_SETFL, O_NONBLOCK);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_write_end();
    if (read_end >= 0) close(read_end);
  }
  void close_write_end() {
    if (write_end >= 0) close(write_end);
    write_end = -1;
  }
};

/// 0, or the errno of what failed.
int spawn(std::span<const std::string> command, const std::filesystem::path& folder, int output,
          pid_t& child) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error = posix_spawnp(&child, words[0], &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// Appends what is there; false at the end of the output.
bool drain(int pipe, std::string& output) {
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(pipe, buffer, sizeof buffer);
    if (count > 0) {
      output.append(buffer, static_cast<size_t>(count));
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return true;
    }
  }
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<ProcessResult> run_process(std::span<const std::string> command,
                                  const ProcessOptions& options) {
  Pipe pipe;
  if (command.empty() || pipe.read_end < 0) return bad_input("no process can be started");
  pid_t child = 0;
  const int error = spawn(command, options.folder, pipe.write_end, child);
  if (error != 0) return bad_input("{}: cannot be started: {}", command[0], std::strerror(error));
  pipe.close_write_end();

  ProcessResult result;
  const Clock::time_point deadline = Clock::now() + options.time_limit;
  bool more_output = true;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() >= deadline) {
      result.timed_out = true;
      kill(-child, SIGKILL);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      break;
    }
    pollfd watched{more_output ? pipe.read_end : -1, POLLIN, 0};
    poll(&watched, 1, static_cast<int>(kPollInterval.count()));
    if (more_output) more_output = drain(pipe.read_end, result.output);
  }
  if (more_output) drain(pipe.read_end, result.output);
  result.exit_code = exit_code_of(status);
  return result;
}

}  // namespace thimble::base

#endif  // !_WIN32
