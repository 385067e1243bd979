# SPDX-License-Identifier: Apache-2.0
thimble_test(numerics_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/numerics_test.cpp
                                   ${CMAKE_CURRENT_LIST_DIR}/numerics_functions_test.cpp
                                   ${CMAKE_CURRENT_LIST_DIR}/numerics_float_test.cpp
             DEPS thimble_numerics
             APART numerics_float_test.cpp
             LABELS unit fast)
