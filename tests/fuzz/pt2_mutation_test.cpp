// Mutated .pt2 files. Each mutation damages the JSON, configs or payloads of an archive that
// PyTorch wrote, and packs it with correct CRCs. Many mutants still parse, so that the later parts
// of the reader run too. Required: no crash, no sanitizer report, no large allocation; the result
// is an error or a program.
//
// A failure prints the command that repeats it, in this form:
//   THIMBLE_FUZZ_SEED=1234 THIMBLE_FUZZ_COUNT=1 pt2_mutation_test

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/pt2/reader.h"
#include "import/import.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "tests/folders.h"
#include "tests/fuzz/heap_peak.h"
#include "tests/unit/formats_test_support.h"

namespace thimble::formats {
namespace {

using nlohmann::json;
using testing::Pt2Parts;
using Random = std::mt19937_64;

// --- the code under test -------------------------------------------------------------------------

/// Consumers of one archive, in the order of the pipeline. Add later stages here.
using Consumer = std::function<void(const Bytes& archive)>;

void read_everything(const Bytes& archive) {
  const auto program = pt2::read(archive, "mutated.pt2");
  if (!program) {
    ASSERT_FALSE(program.error().message.empty());
    return;
  }
  for (const auto& [fqn, payload] : program->weights.payloads()) {
    const auto tensor = program->weights.gather_finite(fqn);
    if (tensor) {
      ASSERT_EQ(tensor->sizes.size(), payload.meta.sizes.size());
    }
  }
}

/// Runs the stages of `compile` that precede the reading of calibration data.
void import_and_clean(const Bytes& archive) {
  const auto program = thimble::formats::pt2::read(archive, "mutant.pt2");
  if (!program.ok()) return;
  const auto model = thimble::import_pt2::import_program(*program, {}, "mutant.pt2");
  if (!model.ok()) return;
  const auto verified = thimble::ir::verify(model->graph);
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  const auto cleaned = thimble::passes::run_float_passes(model->graph);
  if (!cleaned.ok()) return;
  ASSERT_TRUE(thimble::ir::verify(*cleaned).ok());
}

const std::vector<Consumer>& consumers() {
  static const std::vector<Consumer> all = {read_everything, import_and_clean};
  return all;
}

/// Upper bound for memory: 16 MiB plus eight times the archive's size. One more archive's size is
/// added for a consumer's copy, because the archive is not in a file.
void consume(const Bytes& archive) {
  const size_t limit = (size_t{16} << 20) + 9 * archive.size();
  for (const Consumer& consumer : consumers()) {
    const thimble::testing::HeapPeak peak;
    consumer(archive);
    ASSERT_LE(peak.bytes(), limit);
  }
}

// --- repeating a failure -------------------------------------------------------------------------

const char* running_test = "";
uint64_t running_seed = 0;

void print_command() {
  std::fprintf(stderr,
               "repeat: THIMBLE_FUZZ_SEED=%llu THIMBLE_FUZZ_COUNT=1 pt2_mutation_test "
               "--gtest_filter=%s\n",
               static_cast<unsigned long long>(running_seed), running_test);
}

extern "C" void print_command_and_die(int signal_number) {
  print_command();
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Calls `mutate(random, i)` for consecutive seeds and consumes the returned archives.
void run(const char* test, uint64_t count,
         const std::function<Bytes(Random& random, uint64_t i)>& mutate) {
  std::signal(SIGABRT, print_command_and_die);
  running_test = test;
  const uint64_t first = from_environment("THIMBLE_FUZZ_SEED", 1);
  count = from_environment("THIMBLE_FUZZ_COUNT", count);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    running_seed = seed;
    Random random(seed);
    consume(mutate(random, seed));
    if (::testing::Test::HasFatalFailure()) {
      print_command();
      return;
    }
  }
}

// --- mutations of JSON ---------------------------------------------------------------------------

size_t below(Random& random, size_t limit) {
  return limit ? random() % limit : 0;
}

/// Returns all nodes of a tree. A uniform choice among them damages many small details of a graph;
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

/// Returns the JSON text, sometimes with damaged characters.
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

// --- mutations of the other members --------------------------------------------------------------

void mutate_payload(Bytes& bytes, Random& random) {
  switch (below(random, 4)) {
    case 0:
      bytes.resize(below(random, bytes.size() + 1));
      break;
    case 1:
      bytes.resize(bytes.size() + below(random, 100));
      break;
    case 2:
      std::fill(bytes.begin(), bytes.end(), std::byte{0xFF});
      break;
    default:
      if (!bytes.empty()) bytes[below(random, bytes.size())] ^= static_cast<std::byte>(random());
      break;
  }
}

void mutate_members(Pt2Parts& parts, Random& random) {
  auto member = parts.others.begin();
  std::advance(member, static_cast<long>(below(random, parts.others.size())));
  const size_t choice = below(random, 8);
  if (choice == 0) {
    parts.others.erase(member);
  } else if (choice == 1) {
    std::string name = member->first;
    Bytes bytes = std::move(member->second);
    parts.others.erase(member);
    mutate_string(name, random);
    parts.others[name] = std::move(bytes);
  } else {
    mutate_payload(member->second, random);
  }
}

Bytes mutate(Pt2Parts parts, Random& random) {
  const size_t count = 1 + below(random, 3);
  for (size_t i = 0; i < count; ++i) {
    switch (below(random, 10)) {
      case 0:
        mutate_members(parts, random);
        break;
      case 1:
        mutate_json(parts.constants, random);
        break;
      case 2:
      case 3:
        mutate_json(parts.weights, random);
        break;
      default:
        mutate_json(parts.model, random);
        break;
    }
  }
  return parts.pack_texts(to_text(parts.model, random), to_text(parts.weights, random),
                          to_text(parts.constants, random));
}

// --- fixtures ------------------------------------------------------------------------------------

/// Small archives keep mutations fast; every seventh archive gives enough variety.
const std::vector<Pt2Parts>& fixtures() {
  static const std::vector<Pt2Parts> all = [] {
    constexpr uintmax_t kFileBytesMax = 48 * 1024;
    std::vector<std::filesystem::path> paths;
    const std::filesystem::path folder = test::source_folder() / "tests" / "data" / "pt2";
    if (std::filesystem::exists(folder)) {
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".pt2" && entry.file_size() < kFileBytesMax) {
          paths.push_back(entry.path());
        }
      }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<Pt2Parts> parts = {testing::small_pt2()};
    for (size_t i = 0; i < paths.size(); i += 7) parts.push_back(testing::load_pt2(paths[i]));
    return parts;
  }();
  return all;
}

TEST(Pt2Mutation, UnchangedFixturesAreRead) {
  for (const Pt2Parts& parts : fixtures()) {
    const Bytes archive = parts.pack();
    const auto program = pt2::read(archive, "fixture.pt2");
    ASSERT_TRUE(program) << program.error().message;
    consume(archive);
  }
}

/// Returns about `bytes_min` bytes of text: `open`, then `item` separated by commas, then `close`.
std::string repeated(std::string_view open, std::string_view item, std::string_view close,
                     size_t bytes_min) {
  std::string text(open);
  while (text.size() < bytes_min) {
    text += item;
    text += ',';
  }
  text.back() = ' ';
  return text + std::string(close);
}

constexpr size_t kTextBytes = size_t{12} << 20;

/// Large texts of the JSON constructs that need the most memory per character in the reader.
TEST(Pt2Mutation, MemoryIsProportionalToArchive) {
  const Pt2Parts parts = testing::small_pt2();
  const std::string model = parts.model.dump();
  const auto with = [&](std::string_view anchor, std::string_view item) {
    const size_t at = model.find(anchor);
    EXPECT_NE(at, std::string::npos) << anchor;
    const std::string head = model.substr(0, at + anchor.size());
    return repeated(head, item, model.substr(at + anchor.size()), kTextBytes);
  };
  const std::string texts[] = {
      with("\"nodes\":[", "{}"),
      with("\"nodes\":[", R"({"inputs":[],"outputs":[],"target":"a","metadata":{}})"),
      with("\"nodes\":[", "[]"),
      with("\"nodes\":[", "1"),
      with("\"outputs\":[", R"({"as_int":1})"),
      with("\"inputs\":[", R"({"as_int":1})"),
      with("\"inputs\":[", R"({"a":1})"),
      with("\"sizes\":[", R"({"as_int":1})"),
      with("\"input_specs\":[", R"({"token":{}})"),
      repeated("[", "\"\"", "]", kTextBytes),
      repeated("[", "1.5", "]", kTextBytes),
      repeated("[", "9223372036854775807", "]", kTextBytes),
      repeated("{", "\"\":1", "}", kTextBytes),
      std::string(kTextBytes, '['),
      "\"" + std::string(kTextBytes, 'a') + "\"",
  };
  for (const std::string& text : texts) {
    const Bytes archive = parts.pack_texts(text, parts.weights.dump(), parts.constants.dump());
    const thimble::testing::HeapPeak peak;
    read_everything(archive);
    // The constant is far smaller than the promised 16 MiB, so that the factor is tested.
    EXPECT_LE(peak.bytes(), (size_t{2} << 20) + 9 * archive.size())
        << text.substr(text.size() / 2, 60);
  }
}

TEST(Pt2Mutation, ChangedMembersAreSafe) {
  run("Pt2Mutation.DamageInsideTheMembers", 10'000,
      [](Random& random, uint64_t i) { return mutate(fixtures()[i % fixtures().size()], random); });
}

TEST(Pt2Mutation, ChangedArchiveBytesAreSafe) {
  run("Pt2Mutation.DamageOfRawBytes", 1'000, [](Random& random, uint64_t i) {
    Bytes archive = fixtures()[i % fixtures().size()].pack();
    const size_t count = 1 + below(random, 8);
    for (size_t flip = 0; flip < count; ++flip) {
      // The zip directory at the end is small and everything depends on it.
      const size_t window =
          below(random, 2) ? archive.size() : std::min<size_t>(archive.size(), 900);
      archive[archive.size() - 1 - below(random, window)] ^=
          static_cast<std::byte>(1U << below(random, 8));
    }
    return archive;
  });
}

}  // namespace
}  // namespace thimble::formats

// Makes sanitizers stop with abort(), so that the repeat command is printed after their report.
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:handle_abort=0";
}
extern "C" const char* __ubsan_default_options() {
  return "abort_on_error=1:print_stacktrace=1";
}
