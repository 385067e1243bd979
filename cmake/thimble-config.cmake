# SPDX-License-Identifier: Apache-2.0
# find_package(thimble 0.2 CONFIG): the device libraries and thimble_add_model. THIMBLE_PROGRAM is the program of this
# installation, unless it is set before, or the installation has none.
get_filename_component(THIMBLE_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(THIMBLE_DEVICE_DIR ${THIMBLE_PREFIX}/share/thimble/device)
# The networks of the examples, and the folder of examples/app.
set(THIMBLE_MODELS ${THIMBLE_PREFIX}/share/thimble/models)
set(THIMBLE_EXAMPLES ${THIMBLE_PREFIX}/share/thimble/examples)
find_program(THIMBLE_PROGRAM thimble HINTS ${THIMBLE_PREFIX}/bin NO_CMAKE_FIND_ROOT_PATH)
if(NOT EXISTS ${THIMBLE_DEVICE_DIR}/runtime)
  set(thimble_FOUND FALSE)
  set(thimble_NOT_FOUND_MESSAGE "${THIMBLE_DEVICE_DIR}: the device sources are missing; install the component `device`")
  return()
endif()
foreach(component ${thimble_FIND_COMPONENTS})
  if(thimble_FIND_REQUIRED_${component})
    set(thimble_FOUND FALSE)
    set(thimble_NOT_FOUND_MESSAGE "component ${component}: the package has none, its targets are thimble::runtime, thimble::kernels, ...")
    return()
  endif()
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/thimble_model.cmake)
thimble_device_libraries()
