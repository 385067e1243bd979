# SPDX-License-Identifier: Apache-2.0
add_test(NAME matrix_tool COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/matrix_test.py)
set_tests_properties(matrix_tool PROPERTIES LABELS "unit;fast" TIMEOUT 60)
