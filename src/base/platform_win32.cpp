// SPDX-License-Identifier: Apache-2.0
#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <algorithm>

#include "base/cancel.h"
#include "base/process.h"

namespace thimble::base {
namespace {

/// Returns one argument, quoted by the rules of CommandLineToArgvW.
std::string quoted(const std::string& word) {
  std::string result = "\"";
  size_t backslashes = 0;
  for (const char c : word) {
    if (c == '"') result.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    result += c;
  }
  return result.append(backslashes, '\\') + "\"";
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& command,
                                  const ProcessOptions& options) {
  SECURITY_ATTRIBUTES inherit = {sizeof(inherit), nullptr, TRUE};
  HANDLE read_end = nullptr, write_end = nullptr;
  if (!CreatePipe(&read_end, &write_end, &inherit, 0))
    return bad_input("{}: cannot create a pipe", command[0]);
  SetHandleInformation(read_end, HANDLE_FLAG_INHERIT, 0);
  // The job object ends the child processes together with this program.
  const HANDLE job = CreateJobObjectA(nullptr, nullptr);
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + quoted(word);
  STARTUPINFOA startup = {};
  startup.cb = sizeof(startup);
  startup.dwFlags = STARTF_USESTDHANDLES;
  startup.hStdOutput = write_end;
  startup.hStdError = write_end;
  PROCESS_INFORMATION process = {};
  const std::string folder = options.folder.string();
  const BOOL started =
      CreateProcessA(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_SUSPENDED, nullptr,
                     folder.empty() ? nullptr : folder.c_str(), &startup, &process);
  CloseHandle(write_end);
  if (!started) {
    CloseHandle(read_end);
    CloseHandle(job);
    return bad_input("{}: cannot be started: error {}", command[0],
                     static_cast<unsigned long>(GetLastError()));
  }
  AssignProcessToJobObject(job, process.hProcess);
  ResumeThread(process.hThread);
  const auto limit = std::chrono::steady_clock::now() + options.time_limit;
  ProcessResult result;
  for (bool ended = false; !ended;) {
    ended = WaitForSingleObject(process.hProcess, 10) == WAIT_OBJECT_0;
    if (!ended && (std::chrono::steady_clock::now() >= limit || is_cancelled())) {
      result.timed_out = true;
      TerminateJobObject(job, 1);
      WaitForSingleObject(process.hProcess, INFINITE);
      ended = true;
    }
    DWORD available = 0;
    while (PeekNamedPipe(read_end, nullptr, 0, nullptr, &available, nullptr) && available > 0) {
      char buffer[4096];
      DWORD count = 0;
      if (!ReadFile(read_end, buffer, std::min<DWORD>(available, sizeof(buffer)), &count, nullptr))
        break;
      result.output.append(buffer, count);
    }
  }
  DWORD code = 0;
  GetExitCodeProcess(process.hProcess, &code);
  result.exit_code = static_cast<int>(code);
  CloseHandle(process.hThread);
  CloseHandle(process.hProcess);
  CloseHandle(read_end);
  CloseHandle(job);
  THIMBLE_CHECK(check_cancelled());
  return result;
}

void end_with_parent() {}

}  // namespace thimble::base
#endif
