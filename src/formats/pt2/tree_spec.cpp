// SPDX-License-Identifier: Apache-2.0
#include "formats/pt2/tree_spec.h"

#include <optional>

#include "formats/pt2/json.h"

namespace thimble::formats::pt2 {

namespace {

using json::Document;
using json::Value;

// Limit of the recursion.
constexpr int kDepthMax = 50;

Result<Document> parse(std::string_view text) {
  const ByteView bytes = as_byte_view(text);
  return Document::parse(Bytes(bytes.begin(), bytes.end()), "tree specification");
}

std::optional<std::vector<Value>> elements_of(const Value& array) {
  if (!array.is_array()) return std::nullopt;
  const auto elements = array.elements();
  std::vector<Value> all;
  for (const Value element : *elements) all.push_back(element);
  return all;
}

/// Returns the member of the object; nothing if it is missing. Its value may be null.
std::optional<Value> member_of(const Value& object, std::string_view key) {
  const auto value = object.at(key);
  return value ? std::optional(*value) : std::nullopt;
}

/// Returns the keys of a dictionary or the fields of a dataclass, whose context is
/// [[fields], [fields that are None]]; nothing for a tuple or list.
std::optional<std::vector<std::string>> keys_of(const Value& node, size_t count) {
  const auto context = member_of(node, "context");
  if (!context || context->kind() != json::Kind::kString) return std::nullopt;
  const auto document = parse(*context->as_string());
  if (!document) return std::nullopt;
  auto keys = elements_of(document->root());
  if (keys && keys->size() == 2 && keys->front().is_array()) keys = elements_of(keys->front());
  if (!keys || keys->size() != count) return std::nullopt;
  std::vector<std::string> names;
  for (const Value& key : *keys) {
    if (key.kind() != json::Kind::kString) return std::nullopt;
    names.emplace_back(*key.as_string());
  }
  return names;
}

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "_" + name;
}

bool collect(const Value& node, const std::string& path, int depth,
             std::vector<std::string>& names) {
  if (depth > kDepthMax || !node.is_object()) return false;
  const auto type = member_of(node, "type");
  const auto spec = member_of(node, "children_spec");
  const auto children = spec ? elements_of(*spec) : std::nullopt;
  if (!type || !children) return false;
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
  std::vector<std::string> names;
  const auto document = parse(spec);
  if (!document) return names;
  const auto parts = elements_of(document->root());
  if (!parts || parts->size() != 2) return names;
  if (!collect((*parts)[1], "", 0, names)) names.clear();
  return names;
}

}  // namespace thimble::formats::pt2
