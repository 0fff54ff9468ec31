#include "base/tar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

#define BLOCK 512

static unsigned long
octal(const char *header, size_t offset)
{
	return strtoul(header + offset, NULL, 8);
}

static void
assert_header(const char *header, const char *name, char type,
    unsigned long mode, size_t size)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : (unsigned char)header[i];
	ck_assert_str_eq(header, name);
	ck_assert_uint_eq(octal(header, 100), mode);
	ck_assert_uint_eq(octal(header, 108), 65534);
	ck_assert_uint_eq(octal(header, 116), 65534);
	ck_assert_uint_eq(octal(header, 124), size);
	ck_assert_uint_eq(octal(header, 136), 0);
	ck_assert_msg(octal(header, 148) == sum, "%s: checksum", name);
	ck_assert_int_eq(header[156], type);
	ck_assert_mem_eq(header + 257, "ustar\00000", 8);
}

static const size_t sizes[] = {0, 1, 511, 512, 513, 1024, 100000};

static char *
pattern(size_t length)
{
	char *data = xcalloc(1, length + 1);

	for (size_t i = 0; i < length; i++)
		data[i] = (char)(i * 31 + 7);
	return data;
}

START_TEST(headers_and_data)
{
	size_t length = sizes[_i], blocks = (length + BLOCK - 1) / BLOCK;
	char *data = pattern(length);
	size_t tar_length;
	char *tar =
	    tar_single_file("sandbox", "code.py", data, length, &tar_length);

	ck_assert_uint_eq(tar_length, (2 + blocks + 2) * BLOCK);
	assert_header(tar, "sandbox/", '5', 01777, 0);
	assert_header(tar + BLOCK, "sandbox/code.py", '0', 0644, length);
	ck_assert_mem_eq(tar + 2 * BLOCK, data, length);
	for (size_t i = 2 * BLOCK + length; i < tar_length; i++)
		ck_assert_msg(tar[i] == 0, "byte %zu is not 0", i);
	free(tar);
	free(data);
}
END_TEST

/* What a program says, run by the shell. */
static void
output_of(struct text *text, const char *command)
{
	char buffer[4096];
	FILE *stream = popen(command, "re");
	size_t got;

	ck_assert_ptr_nonnull(stream);
	text_add(text, "", 0);
	while ((got = fread(buffer, 1, sizeof(buffer), stream)) > 0)
		text_add(text, buffer, got);
	ck_assert_msg(pclose(stream) == 0, "%s: %s", command, text->data);
}

START_TEST(system_tar_reads_it)
{
	size_t length = sizes[_i], tar_length;
	char *data = pattern(length), *directory = scratch_new(), *tar;
	char *file = xasprintf("%s/tar", directory), *command, *size;
	struct text listing = {0}, content = {0};
	FILE *stream = fopen(file, "we");

	tar = tar_single_file("sandbox", "code.js", data, length, &tar_length);
	ck_assert_uint_eq(fwrite(tar, 1, tar_length, stream), tar_length);
	ck_assert_int_eq(fclose(stream), 0);
	command = xasprintf("tar --numeric-owner -tvf - <%s 2>&1", file);
	output_of(&listing, command);
	free(command);
	size = xasprintf(" %zu ", length);
	ck_assert_ptr_nonnull(strstr(listing.data, "drwxrwxrwt 65534/65534"));
	ck_assert_ptr_nonnull(strstr(listing.data, "-rw-r--r-- 65534/65534"));
	ck_assert_msg(strstr(listing.data, size) != NULL, "%s", listing.data);
	command = xasprintf("tar -xOf - sandbox/code.js <%s 2>&1", file);
	output_of(&content, command);
	ck_assert_uint_eq(content.length, length);
	ck_assert_mem_eq(content.data, data, length);
	free(command);
	free(size);
	free(tar);
	free(file);
	free(data);
	text_release(&listing);
	text_release(&content);
	scratch_free(directory);
}
END_TEST

Suite *
tar_suite(void)
{
	Suite *suite = suite_create("tar");
	TCase *tcase = tcase_create("tar");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_loop_test(tcase, headers_and_data, 0, COUNT(sizes));
	tcase_add_loop_test(tcase, system_tar_reads_it, 0, COUNT(sizes));
	suite_add_tcase(suite, tcase);
	return suite;
}
