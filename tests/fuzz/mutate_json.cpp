// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace thimble::fuzz {
namespace {

using nlohmann::json;

/// Returns all nodes of a tree. A uniform choice among them changes many small details of a graph;
/// a random descent from the root would mostly end outside the graph.
std::vector<json*> places(json& root) {
  std::vector<json*> all = {&root};
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->is_structured()) continue;
    for (json& child : *all[i]) all.push_back(&child);
  }
  return all;
}

json* pick(const std::vector<json*>& all, Random& random) {
  return all[below(random, all.size())];
}

/// Returns a random object or array that is not empty; null after 20 attempts without success.
json* pick_container(const std::vector<json*>& all, Random& random) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    json* place = pick(all, random);
    if (place->is_structured() && !place->empty()) return place;
  }
  return nullptr;
}

json number(Random& random) {
  switch (below(random, 12)) {
    case 0:
      return 0;
    case 1:
      return -1;
    case 2:
      return 1;
    case 3:
      return INT64_MAX;
    case 4:
      return INT64_MIN;
    case 5:
      return UINT64_MAX;
    case 6:
      return int64_t{1} << below(random, 63);
    case 7:
      return -(int64_t{1} << below(random, 63));
    case 8:
      return 1e308;
    case 9:
      return 0.5;
    case 10:
      return below(random, 40);
    default:
      return static_cast<int64_t>(random());
  }
}

/// Replaced by brackets in the packed text. A JSON tree that deep would need recursion.
constexpr std::string_view kNestingPlaceholder = "@@NEST@@";

json other_type(Random& random) {
  switch (below(random, 20)) {
    case 0:
      return nullptr;
    case 1:
      return true;
    case 2:
      return json::array();
    case 3:
      return json::object();
    case 4:
      return "";
    case 5:
      return json::array({number(random), "x", nullptr});
    case 6:
      return json{{"as_int", number(random)}};
    case 7:
      return kNestingPlaceholder;
    default:
      return number(random);
  }
}

/// Swaps two values of one container; in an object this equals swapping the keys.
void swap_children(json& container, Random& random) {
  auto a = container.begin();
  auto b = container.begin();
  std::advance(a, static_cast<long>(below(random, container.size())));
  std::advance(b, static_cast<long>(below(random, container.size())));
  if (a != b) std::swap(*a, *b);
}

void erase_child(json& container, Random& random) {
  auto child = container.begin();
  std::advance(child, static_cast<long>(below(random, container.size())));
  container.erase(child);
}

void rename_key(json& container, Random& random) {
  if (!container.is_object()) return;
  auto child = container.begin();
  std::advance(child, static_cast<long>(below(random, container.size())));
  std::string key = child.key();
  json value = std::move(*child);
  container.erase(child);
  mutate_string(key, random);
  container[key] = std::move(value);
}

void repeat_child(json& container, Random& random) {
  if (!container.is_array()) return;
  const json copy = container[below(random, container.size())];
  const size_t count = below(random, 8) == 0 ? 200 : 1;
  for (size_t i = 0; i < count; ++i) container.push_back(copy);
}

}  // namespace

void mutate_string(std::string& text, Random& random) {
  switch (below(random, 6)) {
    case 0:
      text.resize(below(random, text.size() + 1));
      break;
    case 1:
      text.clear();
      break;
    case 2:
      text += text;
      break;
    case 3:
      text.insert(below(random, text.size() + 1), 1, static_cast<char>(below(random, 128)));
      break;
    case 4:
      text.assign(below(random, 20'000), 'A');
      break;
    default:
      if (!text.empty()) text[below(random, text.size())] = static_cast<char>(below(random, 128));
      break;
  }
}

json parse_json(std::string_view text) {
  constexpr int kDeepest = 1000;
  const auto keep = [](int depth, json::parse_event_t, json&) { return depth <= kDeepest; };
  return json::parse(text, keep, /*allow_exceptions=*/false);
}

void mutate_json(json& root, Random& random) {
  const std::vector<json*> all = places(root);
  json* container = pick_container(all, random);
  json* place = pick(all, random);
  const size_t choice = below(random, 10);
  if (choice < 5 && container) {
    switch (choice) {
      case 0:
        return swap_children(*container, random);
      case 1:
        return erase_child(*container, random);
      case 2:
        return rename_key(*container, random);
      case 3:
        return repeat_child(*container, random);
      default: {
        // Copies a subtree from elsewhere, which often has the expected type.
        json copy = *pick(all, random);
        *place = std::move(copy);
        return;
      }
    }
  }
  if (place->is_string() && choice < 8) {
    mutate_string(place->get_ref<std::string&>(), random);
  } else if (place->is_number() && choice < 9) {
    *place = number(random);
  } else if (place->is_boolean() && choice < 7) {
    *place = !place->get<bool>();
  } else {
    *place = other_type(random);
  }
}

std::string to_text(const json& root, Random& random) {
  std::string text = root.dump(-1, ' ', false, json::error_handler_t::replace);
  const std::string marker = fmt::format("\"{}\"", kNestingPlaceholder);
  const size_t at = text.find(marker);
  if (at != std::string::npos) {
    const size_t depth = size_t{1} << below(random, 18);
    const bool is_array = below(random, 2) == 0;
    std::string nest;
    for (size_t i = 0; i < depth; ++i) nest += is_array ? "[" : "{\"a\":";
    nest += "1";
    nest.append(depth, is_array ? ']' : '}');
    text.replace(at, marker.size(), nest);
  }
  switch (below(random, 80)) {
    case 0:
      text.resize(below(random, text.size() + 1));
      break;
    case 1:
      mutate_string(text, random);
      break;
    default:
      break;
  }
  return text;
}

Bytes mutate_json_text(Bytes text, const Bytes& other, Random& random) {
  json root = parse_json(as_text(text));
  if (root.is_discarded()) return mutate(std::move(text), other, random);
  for (size_t left = 1 + below(random, 3); left > 0; --left) mutate_json(root, random);
  return copy_of(as_byte_view(to_text(root, random)));
}

}  // namespace thimble::fuzz
