// SPDX-License-Identifier: Apache-2.0
// A program for the test of the tool. With an argument it checks only the first function.

#include <cassert>

namespace {

constexpr int kBits = 3;
constexpr int kMask = (1 << kBits) - 1;  // a constant: no site
#define LOW_BITS(x) ((x)&kMask)          // the text of a macro: no site

constexpr int larger(int a, int b) {
  return a < b ? b : a;  // `<=`: an equivalent mutant
}
static_assert(larger(2 + 1, 4) == 4);

int halvings(unsigned x) {
  int count = 0;
  while (x > 1) {  // `<=`: an endless loop
    x = x / 2;
    count += 1;
  }
  assert(count >= 0);
  return LOW_BITS(count);
}

bool is_between(int x, int low, int high) {
  return !(x < low) && x < high;
}

int never_called(int x) {
  return -x;
}

}  // namespace

int main(int count, char**) {
  if (larger(3, 5) != 5 || larger(5, 3) != 5 || larger(4, 4) != 4) return 1;
  if (count > 1) return 0;
  if (halvings(1) != 0 || halvings(20) != 4) return 2;
  if (!is_between(2, 2, 4) || is_between(1, 2, 4) || is_between(4, 2, 4)) return 3;
  return count == 0 ? never_called(1) : 0;
}
