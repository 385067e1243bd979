# SPDX-License-Identifier: Apache-2.0
# Target thimble_fmt: a static library, so that the program runs on machines without fmt. Debian and Ubuntu have fmt as
# headers and a shared library. Then the functions that the headers only declare are compiled once here.
function(thimble_fmt_library)
  find_package(fmt REQUIRED)
  get_target_property(type fmt::fmt TYPE)
  if(NOT type STREQUAL "SHARED_LIBRARY")
    add_library(thimble_fmt INTERFACE)
    target_link_libraries(thimble_fmt INTERFACE fmt::fmt)
    return()
  endif()
  add_library(thimble_fmt STATIC ${CMAKE_SOURCE_DIR}/cmake/fmt.cpp)
  get_target_property(includes fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(thimble_fmt SYSTEM PUBLIC ${includes})
endfunction()
