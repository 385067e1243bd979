#include "formats/pt2/source_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace thimble::formats::pt2 {

namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Cuts the text before `separator` off the front of `rest`.
std::string_view take_until(std::string_view& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

struct Frame {
  std::string_view file;
  std::string_view function;
  std::string_view text;
  int64_t line = 0;
};

/// `File "/home/me/net.py", line 7, in forward`
std::optional<Frame> parse_frame(std::string_view text) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kIn = ", in ";
  if (!text.starts_with(kFile)) return std::nullopt;
  text.remove_prefix(kFile.size());
  const size_t quote = text.rfind(kLine);
  if (quote == std::string_view::npos) return std::nullopt;
  Frame frame;
  frame.file = text.substr(0, quote);
  text.remove_prefix(quote + kLine.size());
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), frame.line);
  if (failure != std::errc() || frame.line < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.starts_with(kIn)) frame.function = text.substr(kIn.size());
  return frame;
}

/// Of a frame's file: the higher, the closer to the user's own program. Lines of PyTorch itself and
/// of what exports and quantizes with it say nothing about the user's.
enum class Origin { kGenerated, kTorch, kInstalled, kUser };

Origin origin(std::string_view file) {
  // Code that torch.fx generates ("<eval_with_key>.7") and checks that torch.export puts in itself,
  // which it names without the folder of the installation.
  if (file.starts_with('<') || file.starts_with("torch/")) return Origin::kGenerated;
  for (const std::string_view folder : {"site-packages", "dist-packages"}) {
    const size_t at = file.rfind(folder);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = file.substr(at + folder.size());
    for (const std::string_view package : {"torch", "torchao", "executorch"}) {
      if (rest.size() < package.size() + 2 || rest.substr(1, package.size()) != package) continue;
      const char end = rest[package.size() + 1];
      if (end == '/' || end == '\\') return Origin::kTorch;
    }
    return Origin::kInstalled;
  }
  return Origin::kUser;
}

/// Three fields at the commas outside brackets: a path may be `layers.slice(0, 3)`.
std::optional<std::array<std::string_view, 3>> split_entry(std::string_view entry) {
  std::array<std::string_view, 3> fields;
  size_t field = 0;
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i < entry.size(); ++i) {
    const char c = entry[i];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c != ',' || depth != 0) continue;
    if (field == 2) return std::nullopt;
    fields[field++] = entry.substr(start, i - start);
    start = i + 1;
  }
  if (field != 2) return std::nullopt;
  fields[2] = entry.substr(start);
  return fields;
}

}  // namespace

SourceLine parse_stack_trace(std::string_view trace) {
  std::optional<Frame> best;
  std::optional<Frame> frame;
  const auto keep = [&] {
    if (!frame || origin(frame->file) <= Origin::kTorch) return;
    if (!best || origin(frame->file) >= origin(best->file)) best = frame;
  };
  while (!trace.empty()) {
    const std::string_view line = trimmed(take_until(trace, '\n'));
    if (std::optional<Frame> next = parse_frame(line)) {
      keep();
      frame = next;
    } else if (frame && frame->text.empty()) {
      frame->text = line;  // later lines are Python's ^^^^ marks
    }
  }
  keep();
  if (!best) return {};
  return {std::string(best->file), best->line, std::string(best->function),
          std::string(best->text)};
}

ModuleName parse_module_stack(std::string_view stack) {
  ModuleName module;
  while (!stack.empty()) {
    const auto fields = split_entry(take_until(stack, ';'));
    // torch.export puts this in for nodes that it makes itself, such as sym_size.
    if (!fields || (*fields)[0] == "_empty_nn_module_stack_from_metadata_hook") continue;
    module = {std::string((*fields)[1]), std::string((*fields)[2])};
  }
  return module;
}

}  // namespace thimble::formats::pt2
