// SPDX-License-Identifier: Apache-2.0
#include "firmware/common/stack.h"

extern "C" uint32_t stack_bottom[], stack_top[];

namespace thimble::firmware {
namespace {

constexpr uint32_t kPaint = 0xC0DEFADE;
constexpr uint32_t kMargin = 16;  // words reserved for this function's own frame

}  // namespace

void stack_paint() {
  auto* here = static_cast<uint32_t*>(__builtin_frame_address(0)) - kMargin;
  for (volatile uint32_t* word = stack_bottom; word < here; ++word) *word = kPaint;
}

uint32_t stack_high_water() {
  const volatile uint32_t* word = stack_bottom;
  while (word < stack_top && *word == kPaint) ++word;
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(stack_top) -
                               reinterpret_cast<uintptr_t>(word));
}

uint32_t stack_bytes() {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(stack_top) -
                               reinterpret_cast<uintptr_t>(stack_bottom));
}

}  // namespace thimble::firmware
