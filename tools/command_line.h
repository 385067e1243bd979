// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line: its verbs and their options. A wrapper of CLI11: including its header takes a
// compiler longer than any of our files, so only command_line.cpp includes it.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace thimble::tools {

/// An option of a verb, as data.
struct OptionFacts {
  std::string name;  // "io-layout"; of a positional argument: "model"
  bool is_positional = false;
  bool is_flag = false;             // has no value
  std::string negative;             // the opposite flag: "no-tune", "concurrent"; may be empty
  std::vector<std::string> values;  // allowed values; empty: any
  std::string help;
};

/// An option, or a positional argument. Calls can be chained.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& one_of(std::vector<std::string> words);
  /// As one_of(); capital letters at the end of a word, as in serial:PORT, stand for any text.
  Option& one_of_or_prefix(std::vector<std::string> words);
  Option& positive();
  Option& finite_and_not_negative();
  /// `expected` describes the value in the message for an empty one.
  Option& not_empty(std::string expected);
  Option& take_all();  // accepts all values up to the next option
  Option& delimiter(char character);
  Option& one_value_each();  // may be given several times, and takes one word each time
  Option& excludes(const Option& other);

 private:
  /// `expected` ends the sentence "expected a number"; `shown` is in the help.
  Option& number(bool (*fits)(double), const char* expected, const char* shown);

  CLI::Option* option_;
};

class CommandLine {
 public:
  CommandLine(const char* help, const char* program);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  /// Runs the verb that the arguments name. Sets `exit_code` if they are wrong or request help.
  void parse(int argc, char** argv, int* exit_code);
  /// Parses words without the program's name, and runs the callback of the verb. Wrong words, and
  /// requests of help, are bad input.
  [[nodiscard]] Status parse_words(const std::vector<std::string>& words);
  /// Returns the arguments of parse() as a line for a shell.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend class Verb;
  std::unique_ptr<CLI::App> app_;
  std::string text_;
};

/// Variables given to option() and flag() must live until the line is parsed. The function given to
/// callback() owns them.
class Verb {
 public:
  Verb(CommandLine& line, const char* name, const char* help);
  Option option(const char* names, std::string& value, const char* help);
  Option option(const char* names, std::filesystem::path& value, const char* help);
  Option option(const char* names, int& value, const char* help);
  Option option(const char* names, double& value, const char* help);
  Option option(const char* names, std::vector<std::string>& values, const char* help);
  Option option(const char* names, std::vector<std::filesystem::path>& values, const char* help);
  Option flag(const char* names, bool& value, const char* help);
  /// A flag with a negative name `!--no-name` in `names`. Without either name there is no value.
  Option flag(const char* names, std::optional<bool>& value, const char* help);
  void callback(std::function<void()> run);
  /// Returns all options except --help, in the order of their definition.
  [[nodiscard]] std::vector<OptionFacts> options() const;

 private:
  CLI::App* app_;
};

}  // namespace thimble::tools
