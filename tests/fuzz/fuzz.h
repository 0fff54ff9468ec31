#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <yyjson.h>

/*
 * What the fuzz targets share.  A target is one file fuzz_NAME.c with this
 * function, which libFuzzer calls, or replay.c for each file of a corpus.
 * What it expects of the code is said with EXPECT.
 *
 * Nothing here depends on the machine: random numbers are counted, timers run
 * off when loop_pass() says so, and sandbox.c starts no programs.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXPECT(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: expected: %s\n", __FILE__, \
			    __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* What has not been read yet of an input. */
struct input {
	const char *data;
	size_t length;
};

/* Forgets what earlier inputs left behind, and begins. */
struct input input_begin(const uint8_t *data, size_t size);
/* 0 at the end. */
unsigned char input_byte(struct input *input);
/* The size of a piece: up to 4065, small ones more often. */
size_t input_piece(struct input *input);
/* The next line, without its newline; false at the end. */
bool input_line(struct input *input, struct input *line);
/* The rest of a line that begins so: "@pass 10" after "@pass " is "10". */
bool input_skip(struct input *line, const char *prefix);
unsigned long input_number(const struct input *line);

/* Feeds data so many bytes at a time.  Each piece has its own piece of memory,
 * so that reading beyond it is noticed. */
void in_pieces(const struct input *input, size_t piece,
    void (*feed)(void *arg, const char *data, size_t length), void *arg);

/* Bytes that grow; all zero is empty. */
struct bytes {
	char *data;
	size_t length;
};
void bytes_add(struct bytes *bytes, const void *data, size_t length);
bool bytes_equal(const struct bytes *bytes, const void *data, size_t length);
void bytes_release(struct bytes *bytes);

/* Settings from a command line (NULL-terminated, without the program's name)
 * in an empty environment. */
struct settings;
void settings_make(struct settings *settings, ...) __attribute__((sentinel));

/* By another judge than utf8.c. */
bool is_utf8(const char *data, size_t length);

/* A message as it goes out: one line, JSON, and what JSON-RPC asks for. */
yyjson_doc *expect_message(const char *data, size_t length);

struct event_base;
/* The loop of all inputs; event_base_new() takes longer than most of them. */
struct event_base *loop_base(void);
/* Turns it until what is going on has come to rest, as it must. */
void loop_turn(void);
/* Timers that end within so many seconds do so now. */
void loop_pass(unsigned long seconds);

#endif
