#include "result.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

static bool
succeeded(const struct outcome *outcome)
{
	return outcome->signal == 0 && outcome->exit_code == 0 &&
	    !outcome->timed_out;
}

static void
signal_name(int number, char name[16])
{
	const char *known = sigabbrev_np(number);

	if (known != NULL)
		snprintf(name, 16, "SIG%s", known);
	else
		snprintf(name, 16, "signal %d", number);
}

static void
strip(const char **text, size_t *length)
{
	static const char blanks[] = " \t\r\n\v\f";

	while (*length > 0 &&
	    memchr(blanks, (*text)[*length - 1], sizeof(blanks) - 1) != NULL)
		(*length)--;
	while (
	    *length > 0 && memchr(blanks, **text, sizeof(blanks) - 1) != NULL) {
		(*text)++;
		(*length)--;
	}
}

/* Plain text, as the original gives it; stderr behind it, if there is any. */
static char *
success_text(const struct outcome *outcome, const struct language *language,
    size_t *length)
{
	static const char heading[] = "[stderr]\n";
	const char *out = outcome->out, *err_out = outcome->err_out;
	size_t out_length = outcome->out_length;
	size_t err_length = outcome->err_out_length;
	char *text, *end;

	strip(&out, &out_length);
	strip(&err_out, &err_length);
	if (out_length == 0 && err_length == 0) {
		text = xasprintf("The program ended without an error and "
		                 "printed nothing. Forgot %s?",
		    language->print);
		*length = strlen(text);
		return text;
	}
	text = xcalloc(1, out_length + err_length + sizeof(heading) + 2);
	end = text;
	if (out_length > 0)
		end = mempcpy(end, out, out_length);
	if (out_length > 0 && err_length > 0)
		end = mempcpy(end, "\n\n", 2);
	if (err_length > 0) {
		end = mempcpy(end, heading, sizeof(heading) - 1);
		end = mempcpy(end, err_out, err_length);
	}
	*length = (size_t)(end - text);
	return text;
}

static void
add_exit(
    yyjson_mut_doc *doc, yyjson_mut_val *object, const struct outcome *outcome)
{
	if (outcome->signal == 0)
		yyjson_mut_obj_add_int(
		    doc, object, "exit_code", outcome->exit_code);
	else
		yyjson_mut_obj_add_null(doc, object, "exit_code");
}

static void
add_signal(
    yyjson_mut_doc *doc, yyjson_mut_val *object, const struct outcome *outcome)
{
	char name[16];

	if (outcome->signal == 0) {
		yyjson_mut_obj_add_null(doc, object, "signal");
		return;
	}
	signal_name(outcome->signal, name);
	yyjson_mut_obj_add_strcpy(doc, object, "signal", name);
}

/* What the model should know that the streams do not say; NULL: nothing. */
static char *
explain(const struct outcome *outcome, const struct settings *settings)
{
	char name[16];

	if (outcome->timed_out)
		return xasprintf("The program was stopped after %.1f seconds, "
		                 "its time limit. timeout_seconds asks for "
		                 "more, up to %d.",
		    (double)outcome->duration_ms / 1000,
		    settings->max_timeout_seconds);
	if (outcome->lost)
		return xstrdup("The container went away while the program "
		               "ran: the engine, or its command, was "
		               "stopped.");
	if (outcome->signal == SIGKILL)
		return xasprintf("The program was killed, most likely because "
		                 "it ran out of memory (limit: %s).",
		    settings->memory);
	if (outcome->signal != 0) {
		signal_name(outcome->signal, name);
		return xasprintf("The program was ended by %s.", name);
	}
	return NULL;
}

/* The original's object, its keys in its order; ours behind them. */
static char *
failure_text(const struct outcome *outcome, const struct settings *settings,
    size_t *length)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	char *note = explain(outcome, settings), *text;

	yyjson_mut_doc_set_root(doc, root);
	add_exit(doc, root, outcome);
	yyjson_mut_obj_add_strn(
	    doc, root, "stderr", outcome->err_out, outcome->err_out_length);
	yyjson_mut_obj_add_strn(
	    doc, root, "stdout", outcome->out, outcome->out_length);
	if (outcome->signal != 0)
		add_signal(doc, root, outcome);
	if (outcome->timed_out)
		yyjson_mut_obj_add_true(doc, root, "timed_out");
	if (note != NULL)
		yyjson_mut_obj_add_str(doc, root, "note", note);
	text = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, length);
	yyjson_mut_doc_free(doc);
	free(note);
	return text;
}

static void
add_text(yyjson_mut_doc *doc, yyjson_mut_val *result, const char *text,
    size_t length)
{
	yyjson_mut_val *content =
	    yyjson_mut_obj_add_arr(doc, result, "content");
	yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, content);

	yyjson_mut_obj_add_str(doc, item, "type", "text");
	yyjson_mut_obj_add_strncpy(doc, item, "text", text, length);
}

static void
add_facts(
    yyjson_mut_doc *doc, yyjson_mut_val *result, const struct outcome *outcome)
{
	yyjson_mut_val *facts =
	    yyjson_mut_obj_add_obj(doc, result, "structuredContent");

	add_exit(doc, facts, outcome);
	add_signal(doc, facts, outcome);
	yyjson_mut_obj_add_strncpy(
	    doc, facts, "stdout", outcome->out, outcome->out_length);
	yyjson_mut_obj_add_strncpy(
	    doc, facts, "stderr", outcome->err_out, outcome->err_out_length);
	yyjson_mut_obj_add_bool(doc, facts, "timed_out", outcome->timed_out);
	yyjson_mut_obj_add_bool(doc, facts, "truncated", outcome->truncated);
	yyjson_mut_obj_add_uint(
	    doc, facts, "duration_ms", outcome->duration_ms);
}

yyjson_mut_val *
result_build(yyjson_mut_doc *doc, const struct outcome *outcome,
    const struct language *language, const struct settings *settings,
    enum revision revision)
{
	yyjson_mut_val *result;
	size_t length;
	char *text;

	if (!outcome->ran)
		return result_build_error(doc, outcome->err.message);
	result = yyjson_mut_obj(doc);
	text = succeeded(outcome) ? success_text(outcome, language, &length)
	                          : failure_text(outcome, settings, &length);
	add_text(doc, result, text, length);
	free(text);
	if (revision >= REVISION_2025_06_18)
		add_facts(doc, result, outcome);
	yyjson_mut_obj_add_false(doc, result, "isError");
	return result;
}

yyjson_mut_val *
result_build_error(yyjson_mut_doc *doc, const char *message)
{
	yyjson_mut_val *result = yyjson_mut_obj(doc);

	add_text(doc, result, message, strlen(message));
	yyjson_mut_obj_add_true(doc, result, "isError");
	return result;
}

yyjson_mut_val *
result_schema(yyjson_mut_doc *doc)
{
	static const char schema[] =
	    "{\"type\":\"object\",\"properties\":{"
	    "\"exit_code\":{\"anyOf\":[{\"type\":\"integer\"},"
	    "{\"type\":\"null\"}],\"description\":"
	    "\"Exit status of the program; null when a signal ended it\"},"
	    "\"signal\":{\"anyOf\":[{\"type\":\"string\"},"
	    "{\"type\":\"null\"}],\"description\":"
	    "\"Name of the signal that ended it, or null\"},"
	    "\"stdout\":{\"type\":\"string\"},"
	    "\"stderr\":{\"type\":\"string\"},"
	    "\"timed_out\":{\"type\":\"boolean\"},"
	    "\"truncated\":{\"type\":\"boolean\",\"description\":"
	    "\"The middle of stdout or stderr was cut out\"},"
	    "\"duration_ms\":{\"type\":\"integer\",\"minimum\":0}},"
	    "\"required\":[\"exit_code\",\"signal\",\"stdout\",\"stderr\","
	    "\"timed_out\",\"truncated\",\"duration_ms\"]}";
	yyjson_doc *parsed = yyjson_read(schema, sizeof(schema) - 1, 0);
	yyjson_mut_val *copy =
	    yyjson_val_mut_copy(doc, yyjson_doc_get_root(parsed));

	yyjson_doc_free(parsed);
	return copy;
}
