# code-sandbox-mcp.  "make help" lists the targets.

VERSION = 0.2.0
PREFIX ?= /usr/local
CC ?= cc
CFLAGS ?= -O2 -g
BUILD ?= build/release
PACKAGES = yyjson libbsd libevent_core libevent_extra

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wvla -Wformat=2 -Wundef -Wcast-qual -Wconversion \
	$(if $(STRICT),-Werror)
HARDENING = $(if $(SANITIZE),,-D_FORTIFY_SOURCE=3) -fstack-protector-strong -fPIE
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(HARDENING) $(SANITIZE) -MMD -MP \
	-D_GNU_SOURCE -DVERSION='"$(VERSION)"' -Isrc -I$(BUILD) \
	$(shell pkg-config --cflags $(PACKAGES) 2>/dev/null) $(CFLAGS)
ALL_LDFLAGS = -pie -Wl,-z,relro,-z,now $(SANITIZE) $(LDFLAGS)
LIBS = $(shell pkg-config --libs $(PACKAGES) 2>/dev/null)

PROGRAM = $(BUILD)/code-sandbox-mcp
LIBRARY = $(BUILD)/libcode-sandbox.a
SOURCES = $(filter-out src/main.c,$(wildcard src/*.c src/*/*.c))
OBJECTS = $(SOURCES:src/%.c=$(BUILD)/%.o)

UNIT = $(BUILD)/unit-tests
UNIT_SOURCES = $(wildcard tests/unit/*.c)
UNIT_OBJECTS = $(UNIT_SOURCES:tests/unit/%.c=$(BUILD)/unit/%.o)
# check's macros convert and compare as they like.
UNIT_CFLAGS = $(filter-out -Wconversion -Wcast-qual,$(ALL_CFLAGS)) \
	$(shell pkg-config --cflags check 2>/dev/null)
# What test_pool.c puts in the place of the real ones.
UNIT_LDFLAGS = -Wl,--wrap=container_start,--wrap=container_abandon \
	-Wl,--wrap=containers_leaving,--wrap=containers_when_left

# Each tests/fuzz/fuzz_NAME.c is a target; the rest there goes with all of them.
FUZZ_TIME ?= 60
FUZZ ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_COMMON = fuzz sandbox $(FUZZ_MAIN)
FUZZ_MAIN = replay
LIBFUZZER = BUILD=build/fuzz CC=clang CFLAGS='-O1 -g -fno-omit-frame-pointer' \
	SANITIZE='-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all' \
	FUZZ_MAIN= LDFLAGS=-fsanitize=fuzzer

ASAN = BUILD=build/asan CFLAGS='-O1 -g -fno-omit-frame-pointer' \
	SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all'

.PHONY: all install uninstall clean help
all: $(PROGRAM) ## build the program into build/release

$(PROGRAM): $(BUILD)/main.o $(LIBRARY)
	@echo "  link  $@"
	@$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(LIBRARY): $(OBJECTS)
	@rm -f $@
	@$(AR) rcs $@ $^

$(BUILD)/%.o: src/%.c | $(BUILD)
	@echo "  cc    $<"
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -c -o $@ $<

# The scripts that run in the container travel inside the program; their
# comments stay at home.
SCRIPTS = $(wildcard src/guest/*) src/engine/seccomp.json
$(BUILD)/scripts.h: $(SCRIPTS) Makefile | $(BUILD)
	@pkg-config --exists --print-errors $(PACKAGES) || { \
	  echo "run scripts/setup build, or install these libraries" >&2; exit 1; }
	@{ echo '/* Made from $(SCRIPTS). */'; \
	  for script in $(SCRIPTS); do \
	    name=$$(basename $$script | tr . _); \
	    echo "static const char script_$$name[] __attribute__((unused)) ="; \
	    sed -E -e '/^[[:space:]]*(#|\/\/|$$)/d' -e 's/\\/\\\\/g' \
	      -e 's/"/\\"/g' -e 's/.*/    "&\\n"/' $$script; \
	    echo '    ;'; \
	  done; } > $@
$(OBJECTS): $(BUILD)/scripts.h

$(UNIT): $(UNIT_OBJECTS) $(LIBRARY)
	@echo "  link  $@"
	@$(CC) $(UNIT_CFLAGS) $(ALL_LDFLAGS) $(UNIT_LDFLAGS) -o $@ $^ $(LIBS) \
	  $(shell pkg-config --libs check 2>/dev/null)

$(BUILD)/unit/%.o: tests/unit/%.c $(BUILD)/scripts.h | $(BUILD)
	@echo "  cc    $<"
	@$(CC) $(UNIT_CFLAGS) -c -o $@ $<

$(BUILD)/fuzz/%.o: tests/fuzz/%.c | $(BUILD)/fuzz
	@echo "  cc    $<"
	@$(CC) $(ALL_CFLAGS) -c -o $@ $<

# The objects come first: they take the place of some in the library.
$(FUZZ:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $(BUILD)/fuzz/fuzz_%.o \
		$(FUZZ_COMMON:%=$(BUILD)/fuzz/%.o) $(LIBRARY)
	@echo "  link  $@"
	@$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# Preloaded by the tests; what it wraps must not be inlined or taken for known.
$(BUILD)/inject.so: tests/inject/inject.c | $(BUILD)
	@echo "  cc    $<"
	@$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O1 -g -fPIC -shared \
	  -fno-builtin -o $@ $<

$(BUILD):
	@mkdir -p $@ $@/unit

$(BUILD)/fuzz:
	@mkdir -p $@

install: $(PROGRAM) ## install under PREFIX (and DESTDIR)
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/code-sandbox-mcp
	install -D -m 644 man/code-sandbox-mcp.1 \
	  $(DESTDIR)$(PREFIX)/share/man/man1/code-sandbox-mcp.1
	install -D -m 644 man/code-sandbox-mcp-security.7 \
	  $(DESTDIR)$(PREFIX)/share/man/man7/code-sandbox-mcp-security.7
	install -D -m 644 src/engine/seccomp.json \
	  $(DESTDIR)$(PREFIX)/share/code-sandbox-mcp/seccomp.json

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/code-sandbox-mcp \
	  $(DESTDIR)$(PREFIX)/share/man/man1/code-sandbox-mcp.1 \
	  $(DESTDIR)$(PREFIX)/share/man/man7/code-sandbox-mcp-security.7
	rm -rf $(DESTDIR)$(PREFIX)/share/code-sandbox-mcp

clean: ## remove everything that was built
	rm -rf build

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1	/p' Makefile | expand -t 20

.PHONY: demo setup setup-test images
demo: setup ## install what is needed, build, and show both tools at work
	@$(MAKE) --no-print-directory all
	@scripts/images
	@scripts/demo $(PROGRAM)

setup: ## install what building and running needs
	@scripts/setup build engine images

setup-test: setup
	@scripts/setup test

images: ## build images: the two, or LANGUAGES=bash,go, or LANGUAGES=all
	@scripts/images $(if $(LANGUAGES),--languages $(LANGUAGES))

.PHONY: check check-unit check-asan check-valgrind check-fuzz check-inject \
	check-e2e check-clients check-root lint format
check: check-root setup-test ## everything: set up, build, lint, every test
	@$(MAKE) --no-print-directory -j"$$(nproc)" --output-sync=target \
	  check-still images-all
	@$(MAKE) --no-print-directory check-e2e
	@$(MAKE) --no-print-directory check-clients

# What needs no engine: the processors do this while the images are fetched.
.PHONY: check-still images-all
check-still: lint check-unit check-valgrind check-fuzz check-inject
images-all:
	@scripts/images --languages all

# Said at once, and not by tests/engines after half an hour.
check-root:
	@[ "$$(id -u)" -eq 0 ] || { echo "make check starts engines as other" \
	  "users and a docker daemon, which takes root: sudo make check" >&2; \
	  exit 1; }

check-unit: $(UNIT) ## unit tests
	$(UNIT)

check-asan: ## unit tests under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory $(ASAN) build/asan/unit-tests \
	  build/asan/code-sandbox-mcp
	build/asan/unit-tests

check-valgrind: $(UNIT) ## unit tests under valgrind
	CK_FORK=no valgrind --quiet --error-exitcode=99 --leak-check=full \
	  --errors-for-leak-kinds=definite,indirect $(UNIT)

check-fuzz: check-asan ## what fuzzing begins with and has found, under ASan and UBSan
	@$(MAKE) --no-print-directory $(ASAN) $(FUZZ:%=build/asan/fuzz/%)
	@for name in $(FUZZ); do \
	  echo "  fuzz  tests/fuzz/corpus/$$name"; log=build/asan/fuzz/$$name.log; \
	  build/asan/fuzz/$$name tests/fuzz/corpus/$$name >$$log 2>&1 || \
	    { tail -n 40 $$log; exit 1; }; done

# All of it on the sanitized program; on the one that is shipped, what depends
# on how it was built, but not on the engine: real programs, warm interpreters,
# real clients, memory.
SHIPPED = test_programs or test_same_as_plain or test_clients or \
	test_run_command or endless or burst or test_load or too_long
check-e2e: all ## end to end, on three real engines and a fake one
	@$(MAKE) --no-print-directory $(ASAN) all
	rm -rf build/recordings/e2e
	status=0; KEEP=1 tests/run build/asan/code-sandbox-mcp || status=1; \
	ENGINES=podman tests/run $(PROGRAM) -- -k '$(SHIPPED)' || status=1; \
	exit $$status

check-inject: all $(BUILD)/inject.so ## system calls and memory that fail
	rm -rf build/recordings/inject
	mkdir -p build/recordings/inject
	CSM_RECORDINGS=$(CURDIR)/build/recordings/inject CSM_BINARY=$(PROGRAM) \
	  PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest \
	  -c tests/e2e/pytest.ini -q -n 4 tests/inject

check-clients: all ## conformance suite, schemas, HTTP, other people's clients
	@$(MAKE) --no-print-directory $(ASAN) all
	tests/protocol/run $(PROGRAM) build/asan/code-sandbox-mcp

.PHONY: bench fuzz
fuzz: ## libFuzzer on each target, FUZZ_TIME seconds each; FUZZ names some
	@$(MAKE) --no-print-directory $(LIBFUZZER) $(FUZZ:%=build/fuzz/fuzz/%)
	@for name in $(FUZZ); do tests/fuzz/run $$name $(FUZZ_TIME) || exit 1; done

bench: all ## measure against the bare interpreter and the bare engine
	@scripts/setup bench
	@tests/bench/bench $(PROGRAM)

lint: all ## static checks
	@scripts/lint

format: ## put the C sources into the house style
	scripts/lint format

-include $(wildcard $(BUILD)/*.d $(BUILD)/*/*.d)
