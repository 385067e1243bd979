// SPDX-License-Identifier: Apache-2.0
#include "driver/does_not_fit.h"

#include <algorithm>
#include <set>

#include "driver/linked_report.h"
#include "driver/report.h"

namespace thimble::driver {
namespace {

int64_t ram_bytes_of(const CompileReport& report, const LinkedSize& linked) {
  // The state belongs to the runtime, which C output does not have.
  const int64_t state = linked.c_output ? 0 : report.state_bytes;
  return report.arena_bytes + state + linked.static_bytes + linked.stack_bytes;
}

/// Returns ", 31.20 ms instead of 30.00 ms (+4 %)", ", +4 % time" if the clock is not known, or
/// ", 31.20 ms" for another part; an empty text if nothing is known.
std::string cost_text(const CompileReport& from, const CompileReport& to) {
  // A program that was not placed in the memories has no comparable time.
  if (to.target != from.target || (to.placement && !from.placement)) {
    return to.time_us ? ", " + time_text(*to.time_us) : "";
  }
  const bool has_times = from.time_us && to.time_us;
  if (!has_times && !(from.cycles && to.cycles && from.npus.empty() && to.npus.empty())) return "";
  const double before = has_times ? *from.time_us : static_cast<double>(*from.cycles);
  const double after = has_times ? *to.time_us : static_cast<double>(*to.cycles);
  if (before <= 0) return "";
  const double percent = 100.0 * (after / before - 1.0);
  if (percent > -0.5 && percent < 0.5) return ", same time";
  if (!has_times) return fmt::format(", {:+.0f} % time", percent);
  return fmt::format(", {} instead of {} ({:+.0f} %)", time_text(after), time_text(before),
                     percent);
}

/// Returns "sram 34,000 B of 36,864 B, ..." for the used memories that have a limit.
std::string memories_text(const CompileReport& report) {
  std::string text;
  for (const MemoryUse& memory : report.memories) {
    if (memory.bytes_size == 0 || memory.bytes_used == 0) continue;
    text += fmt::format("{}{} {} B of {} B", text.empty() ? "" : ", ", memory.name,
                        with_commas(memory.bytes_used), with_commas(memory.bytes_size));
  }
  return text;
}

/// Sum over all memories of the bytes above the limit.
int64_t excess(const CompileReport& report) {
  int64_t bytes = 0;
  for (const MemoryUse& memory : report.memories) {
    if (memory.bytes_size != 0) {
      bytes += std::max<int64_t>(memory.bytes_used - memory.bytes_size, 0);
    }
  }
  return bytes;
}

/// Returns "\n  would fit      with --optimize size     sram 34,000 B of 36,864 B".
std::string line(std::string_view verdict, const std::string& how, const std::string& memories) {
  std::string text = wrapped(fmt::format("  {:<14} {:<30} ", verdict, how), memories);
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  return "\n" + text;
}

/// The alternatives that fit, without a second way to the same sizes on the same part.
std::vector<const Alternative*> fitting(std::span<const Alternative> alternatives) {
  std::vector<const Alternative*> found;
  std::set<std::string> named;
  for (const Alternative& each : alternatives) {
    if (!fits(each.result)) continue;
    if (named.insert(each.result.target + memories_text(each.result)).second) {
      found.push_back(&each);
    }
  }
  return found;
}

/// Returns "sram 34,000 B of 36,864 B, 31.20 ms instead of 30.00 ms (+4 %)" for an alternative.
std::string sizes_text(const CompileReport& report, const Alternative& alternative) {
  std::string text = memories_text(alternative.result) + cost_text(report, alternative.result);
  if (inputs_too_large(alternative.result)) {
    text += fmt::format(", and the inputs of {} B only with --inputs arena",
                        with_commas(application_input_bytes(alternative.result)));
  }
  return text;
}

/// Returns "with --optimize size: sram 34,000 B of 36,864 B" for each alternative that fits.
std::vector<std::string> fitting_texts(const CompileReport& report,
                                       std::span<const Alternative> alternatives) {
  std::vector<std::string> texts;
  for (const Alternative* each : fitting(alternatives)) {
    texts.push_back(fmt::format("{}: {}", each->how, sizes_text(report, *each)));
  }
  return texts;
}

/// Returns the lines of the alternatives that fit; if none does, the line of the closest one.
std::string compiled_lines(const CompileReport& report,
                           const std::vector<Alternative>& alternatives) {
  std::string text;
  for (const Alternative* each : fitting(alternatives)) {
    text += line("would fit", each->how, sizes_text(report, *each));
  }
  if (!text.empty() || alternatives.empty()) return text;
  const Alternative* closest = nullptr;
  for (const Alternative& each : alternatives) {
    if (each.result.shortage.empty() &&
        (closest == nullptr || excess(each.result) < excess(closest->result))) {
      closest = &each;
    }
  }
  if (closest == nullptr || excess(closest->result) >= excess(report)) {
    std::vector<std::string> tried;
    for (const Alternative& each : alternatives) tried.push_back(each.how);
    return text + line("does not help", fmt::format("{}", fmt::join(tried, ", ")), "");
  }
  return text + line("not enough", closest->how, memories_text(closest->result));
}

std::string alternative_lines(const CompileReport& report, const Alternatives& alternatives) {
  std::string text = compiled_lines(report, alternatives.compiled);
  if (!alternatives.not_tried.empty()) {
    text += line("not tried",
                 fmt::format("{}: it takes too long", fmt::join(alternatives.not_tried, ", ")), "");
  }
  return text;
}

std::string ram_parts(const CompileReport& report) {
  if (!report.linked) return "";
  return fmt::format("\n  sum of         arena {}{}", with_commas(report.arena_bytes),
                     other_ram_detail(report));
}

std::string flash_parts(const CompileReport& report) {
  if (!report.linked) return "";
  return fmt::format("\n  sum of         program {}, code {}",
                     with_commas(report.linked->program_bytes),
                     with_commas(report.linked->code_bytes));
}

}  // namespace

int64_t ram_bytes(const CompileReport& report) {
  if (!report.linked) return report.arena_bytes + report.state_bytes;
  const int64_t bytes = ram_bytes_of(report, *report.linked);
  return report.linked_c ? std::max(bytes, ram_bytes_of(report, *report.linked_c)) : bytes;
}

int64_t flash_bytes(const CompileReport& report) {
  if (!report.linked) return report.pte_bytes;
  const int64_t bytes = report.linked->flash_bytes();
  return report.linked_c ? std::max(bytes, report.linked_c->flash_bytes()) : bytes;
}

const MemoryUse* first_overflow(const CompileReport& report) {
  const auto over = std::ranges::find_if(report.memories, [](const MemoryUse& memory) {
    return memory.bytes_size != 0 && memory.bytes_used > memory.bytes_size;
  });
  return over == report.memories.end() ? nullptr : &*over;
}

int64_t application_input_bytes(const CompileReport& report) {
  return report.inputs_in_arena ? 0 : report.input_bytes;
}

bool inputs_too_large(const CompileReport& report) {
  // Without placement, and with one arena, the RAM is one memory.
  if (report.placement || report.dedicated_sram) return false;
  const auto sram = std::ranges::find(report.memories, "sram", &MemoryUse::name);
  return sram != report.memories.end() && sram->bytes_size != 0 &&
         sram->bytes_used <= sram->bytes_size &&
         sram->bytes_used + application_input_bytes(report) > sram->bytes_size;
}

std::string inputs_note(const CompileReport& report) {
  if (!inputs_too_large(report)) return "";
  const auto sram = std::ranges::find(report.memories, "sram", &MemoryUse::name);
  const int64_t input_bytes = application_input_bytes(report);
  return fmt::format(
      "the inputs ({} B) are in memory of the application, not in sram: both together need {} B, "
      "of {} B; with --inputs arena they share memory",
      with_commas(input_bytes), with_commas(sram->bytes_used + input_bytes),
      with_commas(sram->bytes_size));
}

bool fits(const CompileReport& report) {
  return first_overflow(report) == nullptr && report.shortage.empty();
}

Error does_not_fit(const CompileReport& report, const MemoryUse& over,
                   const Alternatives& alternatives) {
  const bool tiled = std::ranges::any_of(
      report.notes, [](const std::string& note) { return note.starts_with("row tiling"); });
  std::string message = fmt::format(
      "{}: does not fit: {} needs {} B{}, {} B allowed: {} B too large", report.model, over.name,
      with_commas(over.bytes_used), tiled && over.name != "flash" ? " with row tiling" : "",
      with_commas(over.bytes_size), with_commas(over.bytes_used - over.bytes_size));
  const int64_t constants =
      over.name == "dram" ? report.dram_constant_bytes : report.sram_constant_bytes;
  if (over.bytes_used == ram_bytes(report) + constants && over.name != "flash") {
    message += ram_parts(report);
    if (constants > 0) {
      message += fmt::format("\n  constants      {} B, which the NPU reads from {}",
                             with_commas(constants),
                             over.name == "dram" ? "DRAM (Dedicated_Sram)" : "SRAM (Sram_Only)");
    }
    const Peak& peak = report.peak;
    message += fmt::format("\n  peak at        {}   {}   {}", peak.op, peak.source.where(),
                           peak.source.text);
  }
  if (over.name == "flash") message += flash_parts(report);
  ErrorFacts facts;
  facts.memory = over.name;
  facts.needed_bytes = over.bytes_used;
  facts.available_bytes = over.bytes_size;
  facts.suggestions = fitting_texts(report, alternatives.compiled);
  return refusal(message + alternative_lines(report, alternatives), std::move(facts));
}

Error does_not_fit(const CompileReport& report, const Error& reason,
                   const Alternatives& alternatives) {
  ErrorFacts facts = reason.facts != nullptr ? *reason.facts : ErrorFacts();
  facts.suggestions = fitting_texts(report, alternatives.compiled);
  return refusal(reason.message + alternative_lines(report, alternatives), std::move(facts));
}

Error memory_refusal(std::string message, std::string_view memory, int64_t needed,
                     int64_t available) {
  ErrorFacts facts;
  facts.memory = memory;
  facts.needed_bytes = needed;
  facts.available_bytes = available;
  return refusal(std::move(message), std::move(facts));
}

}  // namespace thimble::driver
