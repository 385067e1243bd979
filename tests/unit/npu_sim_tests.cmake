# SPDX-License-Identifier: Apache-2.0
file(GLOB npu_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/npu_sim_*_test.cpp)
thimble_test(ethos_u_sim_test SOURCES ${npu_sources}
             DEPS thimble_ethos_u_model
  APART npu_sim_maps_test.cpp
             LABELS unit fast)
