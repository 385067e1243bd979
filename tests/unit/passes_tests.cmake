# SPDX-License-Identifier: Apache-2.0
thimble_test(passes_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/passes_channels_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/passes_fold_batch_norm_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/passes_fold_input_scale_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/passes_fold_matmul_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/passes_fuse_log_mel_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/passes_fuse_norm_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/passes_narrow_integers_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/passes_random_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/passes_simplify_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/passes_tabulate_test.cpp
  DEPS test_graphs thimble_passes
  LABELS unit fast)
