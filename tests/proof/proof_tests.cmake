# SPDX-License-Identifier: Apache-2.0
# Exhaustive checks: a sample here, everything with `make proof`.
thimble_test(proof_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/proof_test.cpp
  DEPS test_runtime_files thimble_memory thimble_runtime thimble_kernels thimble_formats
  LABELS unit fast)
if(TARGET proof_test)
  # A precompiled header that was compiled with other options cannot be used.
  set_target_properties(proof_test PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  thimble_optimize(proof_test)
endif()
