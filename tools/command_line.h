#pragma once
// The command line: its verbs and their options. A wrapper of CLI11: including its header takes a
// compiler longer than any of our files, so only command_line.cpp includes it.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace thimble::tools {

/// An option, or a positional argument. Calls can be chained.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& one_of(std::vector<std::string> words);
  Option& positive();
  Option& take_all();  // accepts all values up to the next option
  Option& delimiter(char character);
  Option& excludes(const Option& other);

 private:
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
  Option option(const char* names, std::vector<std::string>& values, const char* help);
  Option option(const char* names, std::vector<std::filesystem::path>& values, const char* help);
  Option flag(const char* names, bool& value, const char* help);
  /// A flag with a negative name `!--no-name` in `names`. Without either name there is no value.
  Option flag(const char* names, std::optional<bool>& value, const char* help);
  void callback(std::function<void()> run);

 private:
  CLI::App* app_;
};

}  // namespace thimble::tools
