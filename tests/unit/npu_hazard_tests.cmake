# SPDX-License-Identifier: Apache-2.0
thimble_test(npu_hazard_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/npu_hazard_test.cpp ${CMAKE_CURRENT_LIST_DIR}/npu_jobs_test.cpp
  DEPS thimble_ethos_u_model thimble_ethos_u_text
  LABELS unit fast)
