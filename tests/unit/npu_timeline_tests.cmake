# SPDX-License-Identifier: Apache-2.0
thimble_test(npu_timeline_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/npu_timeline_test.cpp
  DEPS thimble_ethos_u_model thimble_ethos_u_text
  LABELS unit fast)
