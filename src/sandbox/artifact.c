#include "sandbox/artifact.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void
artifacts_release(struct artifacts *artifacts)
{
	for (size_t i = 0; i < artifacts->count; i++) {
		free(artifacts->items[i].path);
		free(artifacts->items[i].data);
	}
	free(artifacts->items);
	*artifacts = (struct artifacts){0};
}

static const struct {
	const char *suffix;
	const char *type;
} types[] = {
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},
    {".webp", "image/webp"},
    {".svg", "image/svg+xml"},
    {".txt", "text/plain"},
    {".log", "text/plain"},
    {".md", "text/markdown"},
    {".csv", "text/csv"},
    {".tsv", "text/tab-separated-values"},
    {".html", "text/html"},
    {".css", "text/css"},
    {".js", "text/javascript"},
    {".py", "text/x-python"},
    {".json", "application/json"},
    {".jsonl", "application/jsonl"},
    {".xml", "application/xml"},
    {".yaml", "application/yaml"},
    {".yml", "application/yaml"},
    {".pdf", "application/pdf"},
    {".zip", "application/zip"},
    {".gz", "application/gzip"},
    {".parquet", "application/vnd.apache.parquet"},
    {".xlsx",
        "application/"
        "vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {".mp3", "audio/mpeg"},
    {".wav", "audio/wav"},
    {".mp4", "video/mp4"},
};

const char *
artifact_type(const char *path)
{
	const char *suffix = strrchr(path, '.');

	for (size_t i = 0;
	    suffix != NULL && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcasecmp(suffix, types[i].suffix) == 0)
			return types[i].type;
	return "application/octet-stream";
}
