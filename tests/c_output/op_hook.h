#ifndef THIMBLE_TESTS_OP_HOOK_H
#define THIMBLE_TESTS_OP_HOOK_H
/* What a test defines NAME_OP_HOOK as: operators are counted from 0, the last mark is the end. */

void count_op(unsigned index, const char *name);
int hook_is_at_end(void);

#endif /* THIMBLE_TESTS_OP_HOOK_H */
