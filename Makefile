# Names for what people do here. The work is done by meson, ninja, tools/ and tests/run.

C_FILES = $(shell find src fuzz tests -name '*.[ch]')

.PHONY: build demo check check-long fuzz install uninstall clean format deps
.PHONY: build-asan build-tsan build-analyzer build-faults build-fuzz

build: deps
	@tools/build build

deps:
	@tools/deps build

build-asan build-tsan build-analyzer build-faults build-fuzz: deps
	@tools/build $@

demo: build
	@tools/deps demo
	@tools/demo

check check-long fuzz: build
	@tools/deps check image
	@$(RUN_$@)

RUN_check = tests/run
RUN_check-long = tests/run --long
RUN_fuzz = tools/fuzz

install: build
	@meson install -C build --no-rebuild

uninstall:
	@ninja -C build uninstall

format:
	@clang-format -i $(C_FILES)

clean:
	rm -rf build build-asan build-tsan build-analyzer build-faults build-fuzz
