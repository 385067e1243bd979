add_library(quant_models STATIC ${CMAKE_CURRENT_LIST_DIR}/quant_models.cpp)
target_link_libraries(quant_models PUBLIC thimble_quant thimble_import thimble_formats)

# Not a test: prints the table of docs/quantization.md.
add_executable(thimble_observers ${CMAKE_SOURCE_DIR}/benchmarks/observers/observers.cpp)
target_link_libraries(thimble_observers PRIVATE quant_models)
