// SPDX-License-Identifier: Apache-2.0
#pragma once
// A row of the loops of dot.cpp and dot16.cpp.

// clang-format off
// Adds four products of a row to its sum. %[even] holds elements 0 and 2 of x, %[odd] 1 and 3, as
// int16.
#define THIMBLE_DOT(weights, sum) \
  "ldr %[codes], " weights "\n" \
  "sxtb16 %[pair], %[codes]\n" \
  "smlad " sum ", %[even], %[pair], " sum "\n" \
  "sxtb16 %[pair], %[codes], ror #8\n" \
  "smlad " sum ", %[odd], %[pair], " sum "\n"
// clang-format on
