# find_package(thimble): the compiler program, the device sources and thimble_add_model.
get_filename_component(THIMBLE_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(THIMBLE_DEVICE_DIR ${THIMBLE_PREFIX}/share/thimble/device)
set(THIMBLE_PROGRAM ${THIMBLE_PREFIX}/bin/thimble)
include(${CMAKE_CURRENT_LIST_DIR}/thimble_model.cmake)
