// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_TESTS_OP_HOOK_H
#define THIMBLE_TESTS_OP_HOOK_H
/* Used by a test as NAME_OP_HOOK. Operators are counted from 0; the last call marks the end. */

void count_op(unsigned index, const char* name);
int hook_is_at_end(void);

#endif /* THIMBLE_TESTS_OP_HOOK_H */
