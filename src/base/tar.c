#include "base/tar.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define BLOCK ((size_t)512)
#define NOBODY 65534

/* POSIX.1-1988 ustar. */
struct header {
	char name[100];
	char mode[8], uid[8], gid[8];
	char size[12], mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[6], version[2];
	char user[32], group[32];
	char device_major[8], device_minor[8];
	char prefix[155];
	char padding[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a tar header is one block");

static void
fill_header(
    char *block, const char *name, char type, unsigned mode, size_t size)
{
	struct header header = {
	    .type = type, .magic = "ustar", .version = {'0', '0'}};
	unsigned sum = 0;

	snprintf(header.name, sizeof(header.name), "%s", name);
	snprintf(header.mode, sizeof(header.mode), "%07o", mode);
	snprintf(header.uid, sizeof(header.uid), "%07o", NOBODY);
	snprintf(header.gid, sizeof(header.gid), "%07o", NOBODY);
	snprintf(header.size, sizeof(header.size), "%011zo", size);
	snprintf(header.mtime, sizeof(header.mtime), "%011o", 0);
	/* The sum is made with the checksum field full of spaces. */
	memset(header.checksum, ' ', sizeof(header.checksum));
	memcpy(block, &header, BLOCK);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)block[i];
	snprintf(block + offsetof(struct header, checksum),
	    sizeof(header.checksum), "%06o", sum);
}

char *
tar_single_file(const char *directory, const char *file, const char *data,
    size_t length, size_t *tar_length)
{
	size_t blocks = (length + BLOCK - 1) / BLOCK;
	char name[100], *tar;

	/* Two headers, the data, and two empty blocks for the end. */
	*tar_length = (2 + blocks + 2) * BLOCK;
	tar = xcalloc(1, *tar_length);
	snprintf(name, sizeof(name), "%s/", directory);
	fill_header(tar, name, '5', 01777, 0);
	snprintf(name, sizeof(name), "%s/%s", directory, file);
	fill_header(tar + BLOCK, name, '0', 0644, length);
	memcpy(tar + 2 * BLOCK, data, length);
	return tar;
}
