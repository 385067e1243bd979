// SPDX-License-Identifier: Apache-2.0
// The places of a buffer are listed by a walk that follows the schema. All reads are checked, so
// the buffer may be invalid already.

#include "tests/fuzz/mutate_flatbuffer.h"

#include <flatbuffers/reflection_generated.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace thimble::fuzz {
namespace {

using reflection::BaseType;

constexpr size_t kPlacesMax = 20'000;
constexpr int kDepthMax = 16;
/// Elements of one vector of numbers that are listed: more are constants.
constexpr uint32_t kElementsMax = 64;

struct Scalar {
  size_t at, bytes;
};
struct Offset {
  size_t at, target;
  int kind;  // offsets of one kind may point to each other's targets
};
struct Entry {
  size_t vtable;  // position of the vtable
  size_t at;      // of the entry
};

class Places {
 public:
  Places(const Bytes& bytes, const uint8_t* schema)
      : bytes_(bytes), schema_(*reflection::GetSchema(schema)) {
    size_t root = 0;
    if (!load<uint32_t>(0, root)) return;
    visit(root, *schema_.root_table(), 0);
  }

  std::vector<Scalar> scalars;
  std::vector<Scalar> elements;
  std::vector<size_t> lengths;
  std::vector<Offset> offsets;
  std::vector<Entry> entries;

 private:
  template <typename T>
  bool load(size_t at, size_t& value) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) return false;
    value = load_le<T>(bytes_, at);
    return true;
  }
  [[nodiscard]] bool full() const {
    return scalars.size() + elements.size() + offsets.size() > kPlacesMax;
  }
  /// Follows the offset at `at` and lists it.
  bool follow(size_t at, int kind, size_t& target) {
    size_t distance = 0;
    if (!load<uint32_t>(at, distance) || distance == 0 || distance > bytes_.size() - at)
      return false;
    target = at + distance;
    offsets.push_back({at, target, kind});
    return true;
  }
  static size_t size_of(BaseType type) {
    switch (type) {
      case BaseType::UType:
      case BaseType::Bool:
      case BaseType::Byte:
      case BaseType::UByte:
        return 1;
      case BaseType::Short:
      case BaseType::UShort:
        return 2;
      case BaseType::Int:
      case BaseType::UInt:
      case BaseType::Float:
        return 4;
      case BaseType::Long:
      case BaseType::ULong:
      case BaseType::Double:
        return 8;
      default:
        return 0;
    }
  }
  static int kind_of(BaseType type, int index) { return (static_cast<int>(type) << 16) + index; }

  void visit(size_t table, const reflection::Object& object, int depth) {
    size_t back = 0, vtable_bytes = 0;
    if (depth > kDepthMax || full() || !visited_.insert({table, &object}).second) return;
    if (!load<uint32_t>(table, back)) return;
    const auto vtable = static_cast<size_t>(static_cast<int64_t>(table) -
                                            static_cast<int32_t>(static_cast<uint32_t>(back)));
    if (!load<uint16_t>(vtable, vtable_bytes)) return;
    std::map<int, size_t> union_tags;
    for (const reflection::Field* field : sorted_fields(object)) {
      size_t in_table = 0;
      if (field->offset() + 2U > vtable_bytes ||
          !load<uint16_t>(vtable + field->offset(), in_table)) {
        continue;
      }
      entries.push_back({vtable, vtable + field->offset()});
      if (in_table == 0) continue;
      visit_field(table + in_table, *field, depth, union_tags);
    }
  }

  /// The tag of a union precedes its value.
  static std::vector<const reflection::Field*> sorted_fields(const reflection::Object& object) {
    std::vector<const reflection::Field*> fields;
    for (const reflection::Field* field : *object.fields()) fields.push_back(field);
    std::ranges::sort(fields, {}, [](const auto* field) { return field->id(); });
    return fields;
  }

  void visit_field(size_t at, const reflection::Field& field, int depth,
                   std::map<int, size_t>& union_tags) {
    const reflection::Type& type = *field.type();
    const size_t bytes = size_of(type.base_type());
    size_t target = 0;
    if (bytes != 0) {
      scalars.push_back({at, bytes});
      size_t tag = 0;
      if (type.base_type() == BaseType::UType && load<uint8_t>(at, tag)) {
        union_tags[field.id() + 1] = tag;
      }
      return;
    }
    switch (type.base_type()) {
      case BaseType::String:
        if (follow(at, kind_of(BaseType::String, 0), target)) visit_vector(target, 1);
        return;
      case BaseType::Obj:
        if (follow(at, kind_of(BaseType::Obj, type.index()), target)) {
          visit(target, *schema_.objects()->Get(static_cast<uint32_t>(type.index())), depth + 1);
        }
        return;
      case BaseType::Union: {
        const auto* values = schema_.enums()->Get(static_cast<uint32_t>(type.index()))->values();
        const auto tag = static_cast<int64_t>(union_tags[field.id()]);
        for (const reflection::EnumVal* value : *values) {
          if (value->value() != tag || tag == 0) continue;
          const int index = value->union_type()->index();
          if (!follow(at, kind_of(BaseType::Obj, index), target)) return;
          visit(target, *schema_.objects()->Get(static_cast<uint32_t>(index)), depth + 1);
        }
        return;
      }
      case BaseType::Vector:
        if (follow(at, kind_of(type.element(), type.index()) + (1 << 28), target)) {
          visit_list(target, type, depth);
        }
        return;
      default:
        return;
    }
  }

  void visit_list(size_t vector, const reflection::Type& type, int depth) {
    const size_t bytes = size_of(type.element());
    if (bytes != 0) return visit_vector(vector, bytes);
    size_t count = 0;
    if (!load<uint32_t>(vector, count)) return;
    lengths.push_back(vector);
    for (size_t i = 0; i < count && !full(); ++i) {
      size_t target = 0;
      const bool is_text = type.element() == BaseType::String;
      if (!is_text && type.element() != BaseType::Obj) return;
      const int kind =
          is_text ? kind_of(BaseType::String, 0) : kind_of(BaseType::Obj, type.index());
      if (!follow(vector + 4 + 4 * i, kind, target)) return;
      if (is_text) {
        visit_vector(target, 1);
      } else {
        visit(target, *schema_.objects()->Get(static_cast<uint32_t>(type.index())), depth + 1);
      }
    }
  }

  void visit_vector(size_t vector, size_t element_bytes) {
    size_t count = 0;
    if (!load<uint32_t>(vector, count)) return;
    lengths.push_back(vector);
    for (size_t i = 0; i < std::min<size_t>(count, kElementsMax); ++i) {
      const size_t at = vector + 4 + element_bytes * i;
      if (at + element_bytes <= bytes_.size()) elements.push_back({at, element_bytes});
    }
  }

  const Bytes& bytes_;
  const reflection::Schema& schema_;
  std::set<std::pair<size_t, const reflection::Object*>> visited_;
};

void store(Bytes& bytes, size_t at, uint64_t value, size_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return;
  for (size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
}

template <typename T>
const T* pick(const std::vector<T>& all, Random& random) {
  return all.empty() ? nullptr : &all[below(random, all.size())];
}

void change_scalar(Bytes& bytes, const Scalar* scalar, Random& random) {
  if (scalar == nullptr || scalar->at > bytes.size() || bytes.size() - scalar->at < scalar->bytes) {
    return;
  }
  uint64_t value = 0;
  for (size_t i = 0; i < scalar->bytes; ++i) {
    value |= std::to_integer<uint64_t>(bytes[scalar->at + i]) << (8 * i);
  }
  if (scalar->bytes == 8 && random() % 3 == 0) {
    constexpr uint64_t kLimits[] = {uint64_t{1} << 63, ~uint64_t{0}, uint64_t{1} << 32,
                                    (uint64_t{1} << 63) - 1, uint64_t{1} << 61};
    value = kLimits[below(random, std::size(kLimits))];
  } else {
    value = (value & ~uint64_t{0xFFFFFFFF}) | mutate_word(static_cast<uint32_t>(value), 32, random);
  }
  store(bytes, scalar->at, value, scalar->bytes);
}

void change_length(Bytes& bytes, const size_t* at, Random& random) {
  if (at == nullptr || *at > bytes.size() || bytes.size() - *at < 4) return;
  const auto length = load_le<uint32_t>(bytes, *at);
  const uint32_t choices[] = {0, length / 2, length - 1, length - 1, length + 1, length * 2, 1};
  const bool any = random() % 8 == 0;
  store(bytes, *at,
        any ? mutate_word(length, 32, random) : choices[below(random, std::size(choices))], 4);
}

/// Lets an offset point to another object of its kind. Offsets only point forward.
void change_offset(Bytes& bytes, const std::vector<Offset>& offsets, Random& random) {
  const Offset* const from = pick(offsets, random);
  if (from == nullptr) return;
  for (int attempt = 0; attempt < 50; ++attempt) {
    const Offset& to = offsets[below(random, offsets.size())];
    if (to.kind != from->kind || to.target <= from->at || to.target == from->target) continue;
    store(bytes, from->at, to.target - from->at, 4);
    return;
  }
}

/// Removes a field from a table, or exchanges two fields.
void change_entry(Bytes& bytes, const std::vector<Entry>& entries, Random& random) {
  const Entry* const entry = pick(entries, random);
  if (entry == nullptr) return;
  uint16_t value = 0;
  if (random() % 4 == 0) {
    const Entry& other = entries[below(random, entries.size())];
    if (other.vtable == entry->vtable) value = load_le<uint16_t>(bytes, other.at);
  }
  store(bytes, entry->at, value, 2);
}

}  // namespace

bool mutate_flatbuffer(Bytes& bytes, const uint8_t* schema, Random& random) {
  for (size_t left = 1 + below(random, 3); left > 0; --left) {
    const Places places(bytes, schema);
    if (places.scalars.empty() && places.offsets.empty()) return false;
    switch (random() % 10) {
      case 0:
        change_length(bytes, pick(places.lengths, random), random);
        break;
      case 1:
        change_offset(bytes, places.offsets, random);
        break;
      case 2:
        change_entry(bytes, places.entries, random);
        break;
      case 3:
      case 4:
      case 5:
        change_scalar(bytes, pick(places.elements, random), random);
        break;
      default:
        change_scalar(bytes, pick(places.scalars, random), random);
    }
  }
  return true;
}

}  // namespace thimble::fuzz
