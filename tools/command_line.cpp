#include "tools/command_line.h"

#include <utility>

#include <CLI/CLI.hpp>

namespace thimble::tools {

namespace fs = std::filesystem;

Option& Option::required() {
  option_->required();
  return *this;
}
Option& Option::one_of(std::vector<std::string> words) {
  option_->check(CLI::IsMember(std::move(words)));
  return *this;
}
Option& Option::positive() {
  option_->check(CLI::Validator(
      [](const std::string& text) {
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value > 0;
        return fits ? std::string() : "found " + text + ", expected a number greater than 0";
      },
      "POSITIVE"));
  return *this;
}
Option& Option::take_all() {
  option_->take_all();
  return *this;
}
Option& Option::delimiter(char character) {
  option_->delimiter(character);
  return *this;
}
Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

namespace {

/// Returns the argument in quotes if a shell would split or expand it.
std::string shell_word(const std::string& argument) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string::npos) return argument;
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

CommandLine::CommandLine(const char* help, const char* program)
    : app_(std::make_unique<CLI::App>(help, program)) {
  app_->require_subcommand(1);
}
CommandLine::~CommandLine() = default;

void CommandLine::parse(int argc, char** argv, int* exit_code) {
  text_ = shell_word(fs::path(argv[0]).filename().string());
  for (int i = 1; i < argc; ++i) text_ += " " + shell_word(argv[i]);
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_code = app_->exit(error) == 0 ? 0 : 2;
  }
}

Verb::Verb(CommandLine& line, const char* name, const char* help)
    : app_(line.app_->add_subcommand(name, help)) {}

Option Verb::option(const char* names, std::string& value, const char* help) {
  return Option(app_->add_option(names, value, help));
}
Option Verb::option(const char* names, fs::path& value, const char* help) {
  return Option(app_->add_option(names, value, help));
}
Option Verb::option(const char* names, int& value, const char* help) {
  return Option(app_->add_option(names, value, help));
}
Option Verb::option(const char* names, std::vector<std::string>& values, const char* help) {
  return Option(app_->add_option(names, values, help));
}
Option Verb::option(const char* names, std::vector<fs::path>& values, const char* help) {
  return Option(app_->add_option(names, values, help));
}
Option Verb::flag(const char* names, bool& value, const char* help) {
  return Option(app_->add_flag(names, value, help));
}
Option Verb::flag(const char* names, std::optional<bool>& value, const char* help) {
  // add_flag() would assign a value for absent flags too.
  const auto said = [&value](int64_t times) { value = times > 0; };
  return Option(app_->add_flag_function(names, said, help));
}
void Verb::callback(std::function<void()> run) {
  app_->callback(std::move(run));
}

}  // namespace thimble::tools
