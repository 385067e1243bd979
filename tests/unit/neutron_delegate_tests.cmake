# The delegates of the Neutron alone: the program has a driver of its own.
thimble_test(neutron_delegate_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/neutron_delegate_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_double.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_support.cpp
  DEPS thimble_runtime thimble_formats
  LABELS unit)
# The same with the integer model behind the driver interface.
thimble_test(neutron_files_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/neutron_files_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_list.cpp
    ${CMAKE_CURRENT_LIST_DIR}/neutron_sample.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_support.cpp
  DEPS thimble_hostrun
  LABELS unit)
