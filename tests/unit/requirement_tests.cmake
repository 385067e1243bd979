# SPDX-License-Identifier: Apache-2.0
thimble_test(requirement_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/requirement_test.cpp DEPS thimble_driver LABELS unit fast)
