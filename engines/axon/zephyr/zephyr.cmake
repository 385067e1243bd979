# The tables of the AXON's delegates, in a Zephyr build.
if(CONFIG_THIMBLE_NORDIC_AXON)
  # Compiled as a part of the application, whose include folders may have axon_subgraphs_table.h.
  target_sources(app PRIVATE ${CMAKE_CURRENT_LIST_DIR}/axon.c)
  target_link_libraries(app PRIVATE thimble_device)
endif()
