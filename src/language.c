#include "language.h"

#include <string.h>

#include "scripts.h"

#define STRINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct language languages[LANGUAGE_COUNT] = {
    {
        .id = LANGUAGE_PYTHON,
        .name = "python",
        .title = "Python",
        .image = "philschmi/code-sandbox-python:latest",
        .file = "code.py",
        .command = STRINGS("python3", "-u", "code.py"),
        .suffixes = STRINGS(".py"),
        .libraries = STRINGS("numpy", "pandas", "matplotlib", "scikit-learn",
            "requests", "google-genai"),
        .print = "print()",
        .hook = script_hook_py,
        .hook_file = RUNNER_DIRECTORY "/sitecustomize.py",
        .hook_variable = "PYTHONPATH",
        .hook_value = RUNNER_DIRECTORY,
        .hook_separator = ":",
    },
    {
        .id = LANGUAGE_JAVASCRIPT,
        .name = "javascript",
        .title = "JavaScript",
        .image = "philschmi/code-sandbox-js:latest",
        .file = "code.js",
        .command = STRINGS("node", "code.js"),
        .suffixes = STRINGS(".js", ".mjs", ".cjs"),
        .libraries = STRINGS("@google/genai"),
        .reserved_bytes = 3L << 30,
        .print = "console.log()",
        .hook = script_hook_cjs,
        .hook_file = RUNNER_DIRECTORY "/hook.cjs",
        .hook_variable = "NODE_OPTIONS",
        .hook_value = "--require=" RUNNER_DIRECTORY "/hook.cjs",
        .hook_separator = " ",
    },
};

const struct language *
language_by_name(const char *name)
{
	for (size_t i = 0; i < LANGUAGE_COUNT; i++)
		if (strcmp(languages[i].name, name) == 0)
			return &languages[i];
	return NULL;
}

const struct language *
language_by_file(const char *file_name)
{
	const char *suffix = strrchr(file_name, '.');

	if (suffix == NULL)
		return NULL;
	for (size_t i = 0; i < LANGUAGE_COUNT; i++)
		for (const char *const *known = languages[i].suffixes;
		     *known != NULL; known++)
			if (strcmp(*known, suffix) == 0)
				return &languages[i];
	return NULL;
}
