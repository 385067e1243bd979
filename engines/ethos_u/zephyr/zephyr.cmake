# SPDX-License-Identifier: Apache-2.0
# The Ethos-U in a Zephyr build.
if(CONFIG_THIMBLE_ETHOS_U_VENDOR_DRIVER)
  target_link_libraries(app PRIVATE thimble::vendor_driver_ethos_u)
endif()
if(CONFIG_THIMBLE_ETHOS_U_SIMULATED)
  target_link_libraries(app PRIVATE thimble::vendor_driver_model_ethos_u)
  target_sources(app PRIVATE ${CMAKE_CURRENT_LIST_DIR}/simulated.c)
endif()
# The delegate for ExecuTorch's own runtime.
if(CONFIG_EXECUTORCH_BUILD_THIMBLE_ETHOS_U)
  thimble_zephyr_executorch(ethos_u)
endif()
