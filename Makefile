# make        builds the program and the images for emulated boards into build/
# make demo   compiles a network, runs it here and on an emulated Cortex-M55
# make test   runs all tests
# Each installs what a fresh Debian or Ubuntu lacks (cmake/packages.txt). Everything else is CMake's.

BUILD := build

.PHONY: build demo test clean

build:
	@sh cmake/install-packages.sh
	@sh cmake/build.sh $(BUILD) product

demo: build
	@sh tools/demo.sh $(BUILD)

test:
	@sh cmake/install-packages.sh
	@sh cmake/build.sh $(BUILD) all
	@cd $(BUILD) && $$(sed -n 's/^CMAKE_CTEST_COMMAND:INTERNAL=//p' CMakeCache.txt) -j2 --output-on-failure --no-label-summary

clean:
	rm -rf $(BUILD)
