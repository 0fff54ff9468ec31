#include "fuzz.h"

#include <dirent.h>
#include <string.h>

#include "base/alloc.h"

/*
 * Runs a target on files and directories of files, without libFuzzer:
 *
 *	build/asan/fuzz/NAME tests/fuzz/corpus/NAME
 */

static int
replay_file(const char *path)
{
	FILE *stream = fopen(path, "re");
	struct bytes bytes = {0};
	char piece[4096];
	uint8_t *copy;
	size_t got;

	if (stream == NULL) {
		perror(path);
		return 1;
	}
	while ((got = fread(piece, 1, sizeof(piece), stream)) > 0)
		bytes_add(&bytes, piece, got);
	fclose(stream);
	/* Of exactly that size, so that reading beyond it is noticed. */
	copy = malloc(bytes.length);
	if (bytes.length > 0)
		memcpy(copy, bytes.data, bytes.length);
	/* Said before, for the one that fails. */
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(copy, bytes.length);
	free(copy);
	bytes_release(&bytes);
	return 0;
}

static int
replay(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int failed = 0;

	if (directory == NULL)
		return replay_file(path);
	while ((entry = readdir(directory)) != NULL) {
		char *file = xasprintf("%s/%s", path, entry->d_name);

		if (entry->d_name[0] != '.')
			failed |= replay(file);
		free(file);
	}
	closedir(directory);
	return failed;
}

int
main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	return failed;
}
