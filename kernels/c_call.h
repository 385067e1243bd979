// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_C_CALL_H
#define THIMBLE_C_CALL_H
/* Arguments of a kernel as constant data of C11: `thimble compile --emit c` writes them for kernels
 * that need more than the addresses of their operands. The layout equals that of kernels/kernels.h;
 * kernels/c_call.cpp verifies this. Such a kernel is called by name, without its check:
 *
 *   void thimble_call_<variant>_<operator>(const thimble_arg* args,
 *                                          const thimble_tensor* const* lists);
 *
 * If argument i is a list, lists[i] are its tensors. If no argument is a list, lists is null. */

#include <stdbool.h>
#include <stdint.h>

typedef struct thimble_tensor {
  void* data;
  const int32_t* sizes;     /* logical, `rank` entries */
  const uint8_t* dim_order; /* `rank` entries, outermost first */
  uint32_t bytes;
  uint8_t rank;
  uint8_t dtype; /* 0 uint8, 1 int8, 2 int16, 3 int32, 4 int64, 6 float, 11 bool */
  bool is_constant;
  bool is_null; /* an absent optional operand */
  bool is_verified;
} thimble_tensor;

typedef struct thimble_int_list {
  uint32_t count;
  int32_t items[8];
} thimble_int_list;

/* The operator's argument letters (abi/pte_ops.def) determine which member is valid. */
typedef union thimble_arg {
  thimble_tensor tensor;
  int64_t integer;
  double number;
  thimble_int_list ints;
  uint32_t list; /* number of tensors */
} thimble_arg;

#endif /* THIMBLE_C_CALL_H */
