#include "formats/pt2/tree_spec.h"

#include <optional>

#include <nlohmann/json.hpp>

namespace thimble::formats::pt2 {

namespace {

using Json = nlohmann::json;

// Limit of the recursion.
constexpr int kDepthMax = 50;

Json parse(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

/// Returns the keys of a dictionary or the fields of a dataclass, whose context is
/// [[fields], [fields that are None]]; nothing for a tuple or list.
std::optional<std::vector<std::string>> keys_of(const Json& node, size_t count) {
  const auto context = node.find("context");
  if (context == node.end() || !context->is_string()) return std::nullopt;
  Json keys = parse(context->get_ref<const std::string&>());
  if (keys.is_array() && keys.size() == 2 && keys[0].is_array()) {
    Json fields = keys[0];
    keys = std::move(fields);
  }
  if (!keys.is_array() || keys.size() != count) return std::nullopt;
  std::vector<std::string> names;
  for (const Json& key : keys) {
    if (!key.is_string()) return std::nullopt;
    names.push_back(key.get<std::string>());
  }
  return names;
}

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "_" + name;
}

bool collect(const Json& node, const std::string& path, int depth,
             std::vector<std::string>& names) {
  if (depth > kDepthMax || !node.is_object()) return false;
  const auto type = node.find("type");
  const auto children = node.find("children_spec");
  if (type == node.end() || children == node.end() || !children->is_array()) return false;
  if (type->is_null()) {
    names.push_back(path);
    return true;
  }
  const auto keys = keys_of(node, children->size());
  for (size_t i = 0; i < children->size(); ++i) {
    std::string inner = path;
    if (keys) {
      inner = joined(path, (*keys)[i]);
    } else if (!path.empty() && children->size() > 1) {
      inner = joined(path, std::to_string(i));
    }
    if (!collect((*children)[i], inner, depth + 1, names)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> leaf_names(std::string_view spec) {
  const Json document = parse(spec);
  std::vector<std::string> names;
  if (!document.is_array() || document.size() != 2) return names;
  if (!collect(document[1], "", 0, names)) names.clear();
  return names;
}

}  // namespace thimble::formats::pt2
