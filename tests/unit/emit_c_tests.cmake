# SPDX-License-Identifier: Apache-2.0
thimble_test(emit_c_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/emit_c_test.cpp DEPS thimble_emit LABELS unit fast)
