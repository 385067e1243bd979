# make        builds the program and the images for emulated boards into build/
# make demo   compiles a network, runs it here and on an emulated Cortex-M55
# make test   runs all tests
# make matrix prints which operator, in which type, was found right on which processor
# Each installs what a fresh Debian or Ubuntu lacks (cmake/packages.txt). Everything else is CMake's.

BUILD := build

.PHONY: build demo test matrix clean

build:
	@sh cmake/install-packages.sh
	@sh cmake/build.sh $(BUILD) product

demo: build
	@sh tools/demo.sh $(BUILD)

test:
	@sh cmake/install-packages.sh
	@sh cmake/build.sh $(BUILD) all
	@cd $(BUILD) && $$(sed -n 's/^CMAKE_CTEST_COMMAND:INTERNAL=//p' CMakeCache.txt) -j2 --output-on-failure --no-label-summary

# Kernels, single operators on the boards, random graphs and networks; a cell is a comparison that ran.
matrix:
	@sh cmake/install-packages.sh
	@sh cmake/build.sh $(BUILD) all
	@rm -rf $(BUILD)/matrix
	@cd $(BUILD) && THIMBLE_MATRIX=$(abspath $(BUILD))/matrix \
	  $$(sed -n 's/^CMAKE_CTEST_COMMAND:INTERNAL=//p' CMakeCache.txt) -j2 --no-label-summary -Q \
	  -R '^(kernels_test|cortex_m_conformance_test|operators_test|e2e_.*)$$' --output-on-failure
	@python3 tests/matrix/matrix.py $(BUILD)/matrix --ops abi/pte_ops.def -o $(BUILD)/matrix.md

clean:
	rm -rf $(BUILD)
