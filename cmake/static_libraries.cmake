# The program contains the libraries that it uses, so that it runs on machines without them: zlib and fmt.
# Other dependencies consist of headers.

# thimble_static_library(NAME HEADER): target thimble_NAME for the library NAME. The static library is
# preferred; a system without one provides the shared library. The code of Debian's static libraries is not
# position independent, so the Python module uses the shared library; auditwheel's policies allow zlib.
function(thimble_static_library name header)
  set(static lib${name}.a)
  if(THIMBLE_PYTHON)
    set(static)
  endif()
  find_library(THIMBLE_${name}_LIBRARY NAMES ${static} ${name} ${name}.lib REQUIRED)
  find_path(THIMBLE_${name}_INCLUDE ${header} REQUIRED)
  mark_as_advanced(THIMBLE_${name}_LIBRARY THIMBLE_${name}_INCLUDE)
  add_library(thimble_${name} INTERFACE)
  target_link_libraries(thimble_${name} INTERFACE ${THIMBLE_${name}_LIBRARY})
  target_include_directories(thimble_${name} SYSTEM INTERFACE ${THIMBLE_${name}_INCLUDE})
endfunction()

# Target thimble_fmt. Debian and Ubuntu have fmt as headers and a shared library. Then the functions that the headers
# only declare are compiled once here.
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
