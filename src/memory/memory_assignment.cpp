// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_assignment.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/rounding.h"

namespace thimble::memory {
namespace {

constexpr int64_t kWordBytes = 4;

/// Returns the cost of `take` bytes of the object, rounded down.
int64_t split_cost(const Object& object, const Memory& memory, int64_t take, int64_t bytes) {
  const int64_t accessed =
      object.accessed_bytes / bytes * take + object.accessed_bytes % bytes * take / bytes;
  return accessed / kWordBytes * memory.word_cost;
}

class AssignmentSearch {
 public:
  AssignmentSearch(std::span<const Object> objects, std::span<const Memory> memories,
                   int64_t alignment, int64_t steps)
      : objects_(objects), memories_(memories), image_(image_memory(memories)), steps_(steps) {
    for (const Memory& memory : memories) room_.push_back(memory.bytes / alignment * alignment);
    for (const Object& object : objects) {
      bytes_.push_back(round_up(object.bytes, alignment));
    }
    by_density_.resize(objects.size());
    std::iota(by_density_.begin(), by_density_.end(), size_t{0});
    by_size_ = by_density_;
    // No overflow: accesses are at most about 10^10, sizes at most about 10^8 bytes.
    std::ranges::stable_sort(by_density_, [&](size_t a, size_t b) {
      return objects[a].accessed_bytes * bytes_[b] > objects[b].accessed_bytes * bytes_[a];
    });
    std::ranges::stable_sort(by_size_, [&](size_t a, size_t b) { return bytes_[a] > bytes_[b]; });
    by_speed_.resize(memories.size());
    std::iota(by_speed_.begin(), by_speed_.end(), size_t{0});
    std::ranges::stable_sort(by_speed_, [&](size_t a, size_t b) {
      if (memories[a].word_cost != memories[b].word_cost) {
        return memories[a].word_cost < memories[b].word_cost;
      }
      return memories[a].non_volatile && !memories[b].non_volatile;
    });
    // Objects that are not accessed use slow, non-volatile memories first.
    idle_ = by_speed_;
    std::ranges::reverse(idle_);
    std::stable_partition(idle_.begin(), idle_.end(),
                          [&](size_t m) { return memories[m].non_volatile; });
    now_.resize(objects.size());
  }

  MemoryAssignment run() {
    const std::vector<int64_t> room = room_;
    MemoryAssignment result;
    result.lower_bound = bound(0);
    search();
    result.proven = found_ && steps_ > 0;
    room_ = room;
    if (!found_) result.shortage = by_size();
    result.memory_of_object = best_;
    result.cost = best_cost_;
    if (result.proven) result.lower_bound = best_cost_;
    return result;
  }

 private:
  [[nodiscard]] bool has_room(size_t object, size_t memory) const {
    if (!objects_[object].allowed[memory] || bytes_[object] > room_[memory]) return false;
    return !is_loaded(object, memory) || (image_ && bytes_[object] <= room_[*image_]);
  }
  [[nodiscard]] bool is_loaded(size_t object, size_t memory) const {
    return objects_[object].constant && !memories_[memory].non_volatile;
  }
  void take(size_t object, size_t memory, int64_t sign) {
    room_[memory] -= sign * bytes_[object];
    if (is_loaded(object, memory)) room_[*image_] -= sign * bytes_[object];
  }

  /// Returns a lower bound of the cost of the objects from position `at` on.
  [[nodiscard]] int64_t bound(size_t at) const {
    int64_t cost = 0;
    size_t speed = 0;
    int64_t room = room_[by_speed_[0]];
    for (; at < by_density_.size(); ++at) {
      const size_t object = by_density_[at];
      for (int64_t left = bytes_[object]; left > 0;) {
        while (room == 0 && speed + 1 < by_speed_.size()) room = room_[by_speed_[++speed]];
        if (room == 0) return cost;  // search() detects that the object does not fit
        const int64_t taken = std::min(room, left);
        cost += split_cost(objects_[object], memories_[by_speed_[speed]], taken, bytes_[object]);
        left -= taken;
        room -= taken;
      }
    }
    return cost;
  }

  [[nodiscard]] bool is_equal_to_previous(size_t at) const {
    if (at >= by_density_.size()) return false;
    const size_t a = by_density_[at - 1], b = by_density_[at];
    return bytes_[a] == bytes_[b] && objects_[a].accessed_bytes == objects_[b].accessed_bytes &&
           objects_[a].constant == objects_[b].constant &&
           objects_[a].allowed == objects_[b].allowed;
  }

  /// Depth-first search. `tried`: number of memories already tried per object of the current
  /// branch.
  void search() {
    const size_t count = by_density_.size();
    std::vector<size_t> tried(count + 1, 0);
    std::vector<int64_t> cost(count + 1, 0);
    for (size_t at = 0; steps_ > 0;) {
      if (at == count && (!found_ || cost[at] < best_cost_)) {
        found_ = true;
        best_ = now_;
        best_cost_ = cost[at];
      }
      const bool hopeless = at == count || tried[at] == memories_.size() ||
                            (found_ && cost[at] + bound(at) >= best_cost_);
      if (hopeless) {
        if (at == 0) return;
        --at;
        take(by_density_[at], now_[by_density_[at]], -1);
        continue;
      }
      --steps_;
      const size_t object = by_density_[at];
      const auto& order = objects_[object].accessed_bytes == 0 ? idle_ : by_speed_;
      const size_t memory = order[tried[at]++];
      if (!has_room(object, memory)) continue;
      take(object, memory, 1);
      now_[object] = memory;
      cost[at + 1] = cost[at] + cost_in(objects_[object], memories_[memory]);
      ++at;
      // Symmetry: of two equal objects, the later one is never in a faster memory.
      tried[at] = is_equal_to_previous(at) ? tried[at - 1] - 1 : 0;
    }
  }

  /// Fallback if the search found nothing: largest objects first, each in the fastest memory that
  /// has room.
  std::optional<Shortage> by_size() {
    best_.assign(objects_.size(), 0);
    best_cost_ = 0;
    for (const size_t object : by_size_) {
      const auto fits =
          std::ranges::find_if(by_speed_, [&](size_t memory) { return has_room(object, memory); });
      if (fits == by_speed_.end()) return shortage(object);
      take(object, *fits, 1);
      best_[object] = *fits;
      best_cost_ += cost_in(objects_[object], memories_[*fits]);
    }
    return {};
  }

  [[nodiscard]] Shortage shortage(size_t object) const {
    Shortage result;
    result.object = object;
    for (size_t memory = 0; memory < memories_.size(); ++memory) {
      if (!objects_[object].allowed[memory]) continue;
      int64_t room = room_[memory];
      if (is_loaded(object, memory)) room = std::min(room, image_ ? room_[*image_] : 0);
      if (result.memory && room <= result.room_bytes) continue;
      result.memory = memory;
      result.room_bytes = room;
    }
    return result;
  }

  std::span<const Object> objects_;
  std::span<const Memory> memories_;
  std::optional<size_t> image_;
  int64_t steps_;
  std::vector<int64_t> room_, bytes_;
  std::vector<size_t> by_density_, by_size_, by_speed_, idle_;
  std::vector<size_t> now_, best_;
  int64_t best_cost_ = 0;
  bool found_ = false;
};

}  // namespace

int64_t cost_in(const Object& object, const Memory& memory) {
  return (object.accessed_bytes + kWordBytes - 1) / kWordBytes * memory.word_cost;
}

std::optional<size_t> image_memory(std::span<const Memory> memories) {
  std::optional<size_t> largest;
  for (size_t i = 0; i < memories.size(); ++i) {
    if (!memories[i].non_volatile) continue;
    if (!largest || memories[i].bytes > memories[*largest].bytes) largest = i;
  }
  return largest;
}

MemoryAssignment assign_memories(std::span<const Object> objects, std::span<const Memory> memories,
                                 int64_t alignment, int64_t steps) {
  return AssignmentSearch(objects, memories, alignment, steps).run();
}

}  // namespace thimble::memory
