// run_process for Windows. A job object stands for the process group: closing it kills the program
// and whatever it started.

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <algorithm>

#include "base/process.h"

namespace thimble::base {
namespace {

using Clock = std::chrono::steady_clock;
constexpr DWORD kPollMilliseconds = 20;

class Handle {
 public:
  Handle() = default;
  explicit Handle(HANDLE handle) : handle_(handle) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { reset(); }
  void reset() {
    if (handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE) CloseHandle(handle_);
    handle_ = nullptr;
  }
  HANDLE* address() { return &handle_; }
  HANDLE get() const { return handle_; }

 private:
  HANDLE handle_ = nullptr;
};

std::wstring widen(const std::string& text) {
  const int bytes = static_cast<int>(text.size());
  const int count = MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, nullptr, 0);
  std::wstring wide(static_cast<size_t>(count), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, wide.data(), count);
  return wide;
}

/// Quoted as the C runtime of the started program takes words apart.
std::wstring command_line(std::span<const std::string> command) {
  std::wstring line;
  for (const std::string& word : command) {
    line += line.empty() ? L"\"" : L" \"";
    size_t backslashes = 0;
    for (const wchar_t letter : widen(word)) {
      if (letter == L'"') line.append(backslashes + 1, L'\\');
      backslashes = letter == L'\\' ? backslashes + 1 : 0;
      line += letter;
    }
    line.append(backslashes, L'\\');
    line += L'"';
  }
  return line;
}

void drain(HANDLE pipe, std::string& output) {
  char buffer[4096];
  DWORD available = 0;
  while (PeekNamedPipe(pipe, nullptr, 0, nullptr, &available, nullptr) && available > 0) {
    DWORD count = 0;
    const DWORD wanted = std::min<DWORD>(available, sizeof buffer);
    if (!ReadFile(pipe, buffer, wanted, &count, nullptr) || count == 0) return;
    output.append(buffer, count);
  }
}

}  // namespace

Result<ProcessResult> run_process(std::span<const std::string> command,
                                  const ProcessOptions& options) {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  Handle read_end, write_end;
  if (command.empty() || !CreatePipe(read_end.address(), write_end.address(), &inherited, 0)) {
    return bad_input("no process can be started");
  }
  SetHandleInformation(read_end.get(), HANDLE_FLAG_INHERIT, 0);
  const Handle nothing(CreateFileW(L"NUL", GENERIC_READ, 0, &inherited, OPEN_EXISTING, 0, nullptr));
  const Handle job(CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits);

  STARTUPINFOW startup{};
  startup.cb = sizeof startup;
  startup.dwFlags = STARTF_USESTDHANDLES;
  startup.hStdInput = nothing.get();
  startup.hStdOutput = write_end.get();
  startup.hStdError = write_end.get();
  PROCESS_INFORMATION started{};
  std::wstring line = command_line(command);
  const std::wstring folder = options.folder.wstring();
  if (!CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_SUSPENDED, nullptr,
                      folder.empty() ? nullptr : folder.c_str(), &startup, &started)) {
    return bad_input("{}: cannot be started: error {}", command[0], GetLastError());
  }
  const Handle process(started.hProcess);
  const Handle thread(started.hThread);
  AssignProcessToJobObject(job.get(), process.get());
  ResumeThread(thread.get());
  write_end.reset();

  ProcessResult result;
  const Clock::time_point deadline = Clock::now() + options.time_limit;
  while (WaitForSingleObject(process.get(), kPollMilliseconds) == WAIT_TIMEOUT) {
    drain(read_end.get(), result.output);
    if (Clock::now() < deadline) continue;
    result.timed_out = true;
    TerminateJobObject(job.get(), 1);
    WaitForSingleObject(process.get(), INFINITE);
    break;
  }
  drain(read_end.get(), result.output);
  DWORD exit_code = 1;
  GetExitCodeProcess(process.get(), &exit_code);
  result.exit_code = static_cast<int>(exit_code);
  return result;
}

}  // namespace thimble::base

#endif  // _WIN32
