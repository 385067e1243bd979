// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "abi/kernel_layout.h"
#include "base/lines.h"
#include "base/nearest.h"
#include "tools/version.h"

namespace thimble::tools {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

/// Names of the verb's options, as a user writes them: "--target", "-o".
std::vector<std::string> option_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// Similar names of the verb's options. A letter is similar to no word.
std::string similar_options(const std::string& name, std::vector<std::string> known) {
  constexpr size_t kLetter = 2;
  if (name.size() > kLetter) {
    std::erase_if(known, [](const std::string& each) { return each.size() <= kLetter; });
  }
  return suggestions(name, known);
}

/// Returns the message for words that no option and no argument of the verb accepts.
std::string unexpected(const CLI::App& app, const CLI::App& verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (!name.starts_with('-')) return fmt::format("{}: one argument too many", word);
  const std::vector<std::string> known = option_names(verb);
  std::string text = fmt::format("{}: no such option{}", name, similar_options(name, known));
  std::string others;
  for (const CLI::App* other : app.get_subcommands({})) {
    const std::vector<std::string> names = option_names(*other);
    if (std::ranges::find(names, name) == names.end()) continue;
    others += (others.empty() ? "" : ", ") + other->get_name();
  }
  return others.empty() ? text : text + "; it is an option of " + others;
}

/// Returns the message for arguments that cannot be parsed.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  if (verbs.empty()) {
    const std::vector<std::string> words = app.remaining();
    const std::vector<std::string> known = verb_names(app);
    const std::string all = fmt::format("the verbs are {}", fmt::join(known, ", "));
    if (words.empty()) return fmt::format("no verb given; {}", all);
    if (words[0].starts_with('-')) {
      return fmt::format("{}: no such option{}; {}", words[0],
                         similar_options(words[0], option_names(app)), all);
    }
    return fmt::format("{}: no such verb{}; {}", words[0], suggestions(words[0], known), all);
  }
  const CLI::App& verb = *verbs.front();
  // A misspelt option often makes another one seem absent: name it first.
  const std::vector<std::string> words = verb.remaining();
  const auto option =
      std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
  std::string text = error.what();
  if (option != words.end()) {
    text = unexpected(app, verb, *option);
  } else if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    text = unexpected(app, verb, words.empty() ? "" : words[0]);
  }
  return text;
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const std::string text = usage_error(app, error);
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  if (verbs.empty()) return "thimble: " + text + "\n";
  return fmt::format("thimble {0}: {1}\n`thimble {0} --help` lists the options\n",
                     verbs.front()->get_name(), text);
}

/// Returns the word without capital letters at its end.
std::string_view before_capitals(std::string_view word) {
  while (!word.empty() && word.back() >= 'A' && word.back() <= 'Z') word.remove_suffix(1);
  return word;
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}
Option& Option::one_of(std::vector<std::string> words) {
  const std::string list = fmt::format("{{{}}}", fmt::join(words, ","));
  option_->check(CLI::Validator(
      [words = std::move(words)](const std::string& text) {
        if (std::ranges::find(words, text) != words.end()) return std::string();
        return fmt::format("found {}, expected one of {}{}", text, fmt::join(words, ", "),
                           suggestions(text, words));
      },
      list));
  return *this;
}
Option& Option::one_of_or_prefix(std::vector<std::string> words) {
  const std::string list = fmt::format("{{{}}}", fmt::join(words, ","));
  option_->check(CLI::Validator(
      [words = std::move(words)](const std::string& text) {
        const bool known = std::ranges::any_of(words, [&](const std::string& word) {
          const std::string_view prefix = before_capitals(word);
          return text == word || (prefix != word && text.starts_with(prefix));
        });
        if (known) return std::string();
        return fmt::format("found {}, expected one of {}{}", text, fmt::join(words, ", "),
                           suggestions(text, words));
      },
      list));
  return *this;
}
Option& Option::number(bool (*fits)(double), const char* expected, const char* shown) {
  option_->check(CLI::Validator(
      [fits, expected](const std::string& text) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && fits(value);
        return good ? std::string() : fmt::format("found {}, expected a number {}", text, expected);
      },
      shown));
  return *this;
}
Option& Option::positive() {
  return number([](double value) { return value > 0; }, "greater than 0", "POSITIVE");
}
Option& Option::finite_and_not_negative() {
  return number([](double value) { return std::isfinite(value) && value >= 0; }, "from 0", "");
}
Option& Option::not_empty(std::string expected) {
  option_->check(CLI::Validator(
      [expected = std::move(expected)](const std::string& text) {
        const bool blank = base::words_of(text).empty();
        return blank ? "found an empty value, expected " + expected : std::string();
      },
      ""));
  return *this;
}
Option& Option::take_all() {
  option_->take_all();
  return *this;
}
Option& Option::one_value_each() {
  option_->allow_extra_args(false)->take_all();
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
  app_->set_version_flag(
      "--version",
      [] {
        return fmt::format("thimble {} (commit {}, kernel layout {})", release_version(),
                           release_commit(), abi::kKernelLayoutVersion);
      },
      "Print version, commit and version of the kernel layout");
}
CommandLine::~CommandLine() = default;

void CommandLine::parse(int argc, char** argv, int* exit_code) {
  text_ = shell_word(fs::path(argv[0]).filename().string());
  for (int i = 1; i < argc; ++i) text_ += " " + shell_word(argv[i]);
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      *exit_code = app_->exit(error);  // prints the help or the version
      return;
    }
    std::fputs(usage_message(*app_, error).c_str(), stderr);
    *exit_code = 2;
  }
}

Status CommandLine::parse_words(const std::vector<std::string>& words) {
  // CLI11 expects the words in reverse order.
  try {
    app_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return bad_input("--help is an option of the program only");
    return bad_input("{}", usage_error(*app_, error));
  }
  return ok();
}

Verb::Verb(CommandLine& line, const char* name, const char* help)
    : app_(line.app_->add_subcommand(name, help)) {}

Option Verb::option(const char* names, std::string& value, const char* help) {
  return Option(app_->add_option(names, value, help));
}
Option Verb::option(const char* names, fs::path& value, const char* help) {
  const auto check = [](const std::string& path) {
    return std::string(path.empty() ? "found an empty text, expected a path" : "");
  };
  return Option(app_->add_option(names, value, help)->check(check));
}
Option Verb::option(const char* names, int& value, const char* help) {
  return Option(app_->add_option(names, value, help));
}
Option Verb::option(const char* names, double& value, const char* help) {
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

namespace {

/// Returns the words of Option::one_of(), which its validator describes as {a,b}.
std::vector<std::string> allowed_words(CLI::Option& option) {
  try {
    const std::string list = option.get_validator(0)->get_description();
    if (!list.starts_with('{') || !list.ends_with('}')) return {};
    return CLI::detail::split(list.substr(1, list.size() - 2), ',');
  } catch (const CLI::OptionNotFound&) {
    return {};  // no validator
  }
}

}  // namespace

std::vector<OptionFacts> Verb::options() const {
  std::vector<OptionFacts> rows;
  for (CLI::Option* option : app_->get_options()) {
    OptionFacts row;
    row.is_positional = option->get_positional();
    row.name = row.is_positional ? option->get_name() : option->get_lnames().front();
    if (row.name == "help") continue;
    row.is_flag = option->get_items_expected() == 0;
    for (const std::string& name : option->get_fnames()) {
      if (name != row.name) row.negative = name;
    }
    row.help = option->get_description();
    row.values = allowed_words(*option);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace thimble::tools
