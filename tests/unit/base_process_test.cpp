// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>

#include "base/process.h"

namespace thimble::base {
namespace {

#ifndef _WIN32
TEST(RunProcess, ReturnsBothStreamsAndExitCode) {
  const auto result = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"}, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_FALSE(result->timed_out);
  EXPECT_NE(result->output.find("out"), std::string::npos);
  EXPECT_NE(result->output.find("err"), std::string::npos);
}

TEST(RunProcess, KillsProgramAndChildrenAtTimeLimit) {
  ProcessOptions options;
  options.time_limit = std::chrono::seconds(1);
  const auto result = run_process({"sh", "-c", "echo begun; sleep 100 & sleep 100"}, options);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->output, "begun\n");
}

TEST(RunProcess, WaitsForProgramThatClosesItsOutput) {
  const auto result = run_process({"sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 5"}, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_code, 5);
}

TEST(RunProcess, SignalSetsExitCode) {
  const auto result = run_process({"sh", "-c", "kill -SEGV $$"}, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_code, 128 + 11);
}

TEST(RunProcess, ExitCodeThatIsLostIsAnError) {
  // The system then discards the exit codes of children.
  void (*const old)(int) = std::signal(SIGCHLD, SIG_IGN);
  const auto result = run_process({"sh", "-c", "exit 3"}, {});
  std::signal(SIGCHLD, old);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "sh: its exit code is not known: No child processes");
}

TEST(RunProcess, RunsInGivenFolder) {
  ProcessOptions options;
  options.folder = "/";
  const auto result = run_process({"pwd"}, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output, "/\n");
}
#endif

TEST(RunProcess, MissingProgramIsAnError) {
  const auto result = run_process({"no-such-program-anywhere"}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("no-such-program-anywhere"), std::string::npos);
}

}  // namespace
}  // namespace thimble::base
