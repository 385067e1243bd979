# SPDX-License-Identifier: Apache-2.0
thimble_test(cortex_m_forms_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/cortex_m_constant_channels_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/cortex_m_conv_groups_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/cortex_m_kernel_variants_test.cpp
  DEPS test_graphs thimble_engines
  LABELS unit fast)
