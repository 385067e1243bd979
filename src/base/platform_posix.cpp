// SPDX-License-Identifier: Apache-2.0
#ifndef _WIN32
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/cancel.h"
#include "base/process.h"

extern char** environ;

namespace thimble::base {
namespace {

using Clock = std::chrono::steady_clock;

/// Starts the child in a new process group. Its standard output and error go to `pipe_end`.
Result<pid_t> start(const std::vector<std::string>& command, const ProcessOptions& options,
                    int pipe_end) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int failed = 0;
  const auto check = [&](int code) { failed = failed != 0 ? failed : code; };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  check(posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
  check(posix_spawn_file_actions_adddup2(&actions, pipe_end, STDOUT_FILENO));
  check(posix_spawn_file_actions_adddup2(&actions, pipe_end, STDERR_FILENO));
  if (!options.folder.empty())
    check(posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str()));
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  check(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP));
  check(posix_spawnattr_setpgroup(&attributes, 0));
  pid_t child = 0;
  if (failed == 0) {
    failed = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return bad_input("{}: cannot be started: {}", command[0], std::strerror(failed));
  return child;
}

/// Reads until the other end of the pipe is closed, the time limit is reached or the work is
/// cancelled. Returns true if it was closed.
bool read_all(int pipe_end, Clock::time_point limit, std::string* output) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
    if (left <= 0 || is_cancelled()) return false;
    constexpr std::chrono::milliseconds::rep kCancelInterval = 100;
    pollfd waiting = {pipe_end, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min(left, kCancelInterval)));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    const ssize_t count = read(pipe_end, buffer.data(), buffer.size());
    if (count <= 0) return true;
    output->append(buffer.data(), static_cast<size_t>(count));
  }
}

/// waitpid(), again after a signal.
pid_t wait_for(pid_t child, int* status, int flags) {
  pid_t ended = 0;
  do {
    ended = waitpid(child, status, flags);
  } while (ended < 0 && errno == EINTR);
  return ended;
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& command,
                                  const ProcessOptions& options) {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return bad_input("{}: cannot create a pipe: {}", command[0], std::strerror(errno));
  const Clock::time_point limit = Clock::now() + options.time_limit;
  const Result<pid_t> child = start(command, options, ends[1]);
  close(ends[1]);
  if (!child.ok()) {
    close(ends[0]);
    return child.error();
  }
  ProcessResult result;
  result.timed_out = !read_all(ends[0], limit, &result.output);
  close(ends[0]);
  int status = 0;
  // The child may have closed its output and still run. The time limit applies until it exits.
  pid_t ended = 0;
  while (!result.timed_out && (ended = wait_for(*child, &status, WNOHANG)) == 0) {
    result.timed_out = Clock::now() >= limit || is_cancelled();
    if (!result.timed_out) usleep(1000);
  }
  if (result.timed_out) kill(-*child, SIGKILL);
  if (ended == 0) ended = wait_for(*child, &status, 0);
  const int lost = ended < 0 ? errno : 0;  // if the process ignores SIGCHLD
  THIMBLE_CHECK(check_cancelled());
  if (lost != 0 && !result.timed_out) {
    return bad_input("{}: its exit code is not known: {}", command[0], std::strerror(lost));
  }
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

void end_with_parent() {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

}  // namespace thimble::base
#endif
