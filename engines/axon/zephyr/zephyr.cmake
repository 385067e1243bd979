# SPDX-License-Identifier: Apache-2.0
# The tables of the AXON's delegates, in a Zephyr build.
if(CONFIG_THIMBLE_NORDIC_AXON)
  # Compiled with the application, because axon_subgraphs_table.h may be in its include folders.
  target_sources(app PRIVATE ${CMAKE_CURRENT_LIST_DIR}/axon.c)
  if(TARGET thimble::model_axon)
    target_link_libraries(app PRIVATE thimble::model_axon thimble::delegate_axon)
  else() # THIMBLE_DEVICE_LIBRARY
    target_link_libraries(app PRIVATE thimble_device)
  endif()
endif()
# The delegates for ExecuTorch's own runtime.
if(CONFIG_EXECUTORCH_BUILD_NORDIC_AXON)
  thimble_zephyr_executorch(axon)
  thimble_zephyr_executorch(axon_vendor)
endif()
