// SPDX-License-Identifier: Apache-2.0
// An allocation of the C API fails: the call returns "out of memory" or the result, and the same
// calls in the same process return the result afterwards. About 100 of the allocations fail, each
// in a process of its own; with THIMBLE_FAULT_STEP=N, every N-th.

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <execinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/capi/thimble_c.h"
#include "tests/folders.h"

namespace {

std::atomic<int64_t> allocations = 0;
std::atomic<int64_t> failing = 0;  // the number of the allocation that fails; 0: none

}  // namespace

void* operator new(size_t size) {
  if (++allocations == failing) throw std::bad_alloc();
  void* const block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, size_t /*size*/) noexcept {
  std::free(block);
}

namespace thimble {
namespace {

constexpr int64_t kSample = 100;

/// An error that the API returns, freed at the end.
struct ApiError {
  thimble_c_error* error = nullptr;
  ApiError() = default;
  ApiError(const ApiError&) = delete;
  ApiError& operator=(const ApiError&) = delete;
  ~ApiError() { thimble_c_error_free(error); }
};

/// Calls of an application that compiles a model and runs it.
class Application {
 public:
  Application() {
    model_.path = model_path_.c_str();
    request_.version = THIMBLE_C_API_VERSION;
    request_.model = model_;
    request_.target = "cortex-m4";
    request_.calibration_path = samples_path_.c_str();
  }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  /// Returns the message of an error, or "" after writing the results.
  std::string compile_and_run(std::string* results) const {
    results->clear();
    ApiError failure;
    thimble_c_compiled* compiled = nullptr;
    if (thimble_c_compile(&request_, &compiled, &failure.error) != THIMBLE_C_OK) {
      return failure.error->message;
    }
    const std::string message = inspect_and_run(*compiled, results);
    thimble_c_compiled_free(compiled);
    return message;
  }

 private:
  static std::string inspect_and_run(const thimble_c_compiled& compiled, std::string* results) {
    thimble_c_file program = {};
    program.name = "hello_sin.pte";
    program.bytes = thimble_c_bytes(&compiled, &program.size);
    ApiError failure;
    char* json = nullptr;
    if (thimble_c_inspect(&program, &json, &failure.error) != THIMBLE_C_OK) {
      return failure.error->message;
    }
    thimble_c_interpreter* interpreter = nullptr;
    std::string message;
    if (thimble_c_open(&program, nullptr, 0, &interpreter, &failure.error) != THIMBLE_C_OK) {
      message = failure.error->message;
    } else {
      thimble_c_array input = *thimble_c_input(interpreter, 0);
      const float value = 1.5F;
      input.data = &value;
      if (thimble_c_run(interpreter, &input, 1, &failure.error) != THIMBLE_C_OK) {
        message = failure.error->message;
      } else {
        const thimble_c_array& output = *thimble_c_output(interpreter, 0);
        results->append(static_cast<const char*>(output.data), sizeof(float));
      }
    }
    thimble_c_interpreter_free(interpreter);
    if (message.empty()) {
      results->append(json);
      results->append(static_cast<const char*>(program.bytes), program.size);
    }
    thimble_c_text_free(json);
    return message;
  }

  const std::string model_path_ =
      (test::source_folder() / "models/hello_sin/hello_sin.pt2").string();
  const std::string samples_path_ =
      (test::source_folder() / "models/hello_sin/calibrate.npz").string();
  thimble_c_file model_ = {};
  thimble_c_compile_request request_ = {};
};

// kTerminated: the destructor of nlohmann::json allocates, and a constructor that finds no memory
// violates an assertion of its destructor.
enum Outcome { kResult, kOutOfMemory, kTerminated, kWrong };

/// Prints the functions of the stack to standard error. Allocates no memory.
[[noreturn]] void print_stack_and_end() {
  void* stack[64];
  backtrace_symbols_fd(stack, backtrace(stack, std::size(stack)), STDERR_FILENO);
  std::_Exit(kTerminated);
}

/// In a child process, an allocation fails; then the same work is done again.
Outcome outcome_of(const Application& application, const std::string& expected, int64_t number) {
  std::FILE* const errors = std::tmpfile();
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(errors), STDERR_FILENO);
    std::set_terminate(print_stack_and_end);
    std::signal(SIGABRT, [](int) { print_stack_and_end(); });
    std::string results;
    results.reserve(2 * expected.size());
    failing = allocations + number;
    const std::string message = application.compile_and_run(&results);
    failing = 0;
    const bool first_is_valid = message.empty() ? results == expected : message == "out of memory";
    const bool second_is_equal =
        application.compile_and_run(&results).empty() && results == expected;
    std::_Exit(!first_is_valid || !second_is_equal ? kWrong
               : message.empty()                   ? kResult
                                                   : kOutOfMemory);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::string text(size_t{1} << 16, '\0');
  std::rewind(errors);
  text.resize(std::fread(text.data(), 1, text.size(), errors));
  std::fclose(errors);
  if (!WIFEXITED(status)) return kWrong;
  const auto outcome = static_cast<Outcome>(WEXITSTATUS(status));
  if (outcome != kTerminated || text.find("nlohmann") != text.npos) return outcome;
  ADD_FAILURE() << text;
  return kWrong;
}

TEST(CapiMemory, CallsAfterOutOfMemoryHaveTheirResult) {
  setenv("THIMBLE_THREADS", "1", 1);
  const Application application;
  std::string expected, results;
  ASSERT_EQ(application.compile_and_run(&expected), "");
  const int64_t before = allocations;
  ASSERT_EQ(application.compile_and_run(&results), "");
  const int64_t count = allocations - before;
  ASSERT_EQ(results, expected);
  // The library makes temporary folders here, and removes them.
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / fmt::format("capi_memory_{}", getpid());
  std::filesystem::create_directory(folder);
  setenv("TMPDIR", folder.c_str(), 1);
  const char* const given = std::getenv("THIMBLE_FAULT_STEP");
  const int64_t step = given == nullptr ? std::max(int64_t{1}, count / kSample) : std::atoll(given);
  int64_t outcomes[kWrong + 1] = {};
  for (int64_t number = 1; number <= count; number += step) {
    const Outcome outcome = outcome_of(application, expected, number);
    EXPECT_NE(outcome, kWrong) << "allocation " << number;
    const bool is_clean = std::filesystem::is_empty(folder);
    EXPECT_TRUE(outcome == kTerminated || is_clean) << "allocation " << number;
    if (!is_clean) {
      std::filesystem::remove_all(folder);
      std::filesystem::create_directory(folder);
    }
    ++outcomes[outcome];
  }
  std::printf(
      "%lld results, %lld out of memory, %lld ended by std::terminate in the JSON library\n",
      static_cast<long long>(outcomes[kResult]), static_cast<long long>(outcomes[kOutOfMemory]),
      static_cast<long long>(outcomes[kTerminated]));
  std::filesystem::remove_all(folder);
  EXPECT_LE(20 * outcomes[kTerminated], outcomes[kOutOfMemory]);
}

}  // namespace
}  // namespace thimble
