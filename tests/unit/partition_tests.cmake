# SPDX-License-Identifier: Apache-2.0
thimble_test(partition_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/partition_test.cpp
  DEPS test_integer_graphs thimble_partition thimble_eval
  LABELS unit fast)
