#include "mcp/result.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "mcp/result_files.h"

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

static void
add_section(
    struct strbuf *text, const char *heading, const char *data, size_t length)
{
	if (length == 0)
		return;
	strbuf_addf(text, "%s%s", text->length > 0 ? "\n\n" : "", heading);
	strbuf_add(text, data, length);
}

/* In a session, or with files to show, nobody need have forgotten to print. */
static void
say_nothing_printed(struct strbuf *text, const struct outcome *outcome,
    const struct language *language)
{
	strbuf_addf(
	    text, "The program ended without an error and printed nothing.");
	if (outcome->session == NULL && outcome->artifacts.count == 0)
		strbuf_addf(text, " Forgot %s?", language->print);
}

#define SESSION_OVER \
	"The session is over, and its variables and files are lost; " \
	"\"session\": \"new\" begins another."

static void
add_session_section(struct strbuf *text, const struct outcome *outcome)
{
	const char *words =
	    outcome->session_ended ? SESSION_OVER : outcome->session;

	if (words != NULL)
		add_section(text, "[session]\n", words, strlen(words));
}

/* Plain text, as the original gives it; what else there is behind it. */
static char *
success_text(const struct outcome *outcome, const struct language *language,
    size_t *length)
{
	const char *out = outcome->out, *err_out = outcome->err_out;
	size_t out_length = outcome->out_length;
	size_t err_length = outcome->err_out_length;
	struct strbuf text = {0}, files = {0};

	strip(&out, &out_length);
	strip(&err_out, &err_length);
	add_section(&text, "", out, out_length);
	add_section(&text, "[stderr]\n", err_out, err_length);
	if (outcome->value != NULL)
		add_section(
		    &text, "[value]\n", outcome->value, outcome->value_length);
	if (text.length == 0)
		say_nothing_printed(&text, outcome, language);
	result_files_say(outcome, &files);
	add_section(&text, "[files]\n", files.data, files.length);
	strbuf_release(&files);
	add_session_section(&text, outcome);
	*length = text.length;
	return text.data;
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
	double seconds = (double)outcome->duration_ms / 1000;
	bool had_most = seconds >= settings->max_timeout_seconds;
	char name[16];

	if (outcome->timed_out)
		return xasprintf("The program reached its time limit, and was "
		                 "stopped after %.1f seconds. %s %d.",
		    seconds,
		    had_most ? "No call gets more: the most is"
		             : "timeout_seconds asks for more, up to",
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

/* The same, and that the session did not outlive it. */
static char *
explain_all(const struct outcome *outcome, const struct settings *settings)
{
	char *note = explain(outcome, settings), *both;

	if (!outcome->session_ended)
		return note;
	both = xasprintf("%s%s" SESSION_OVER, note != NULL ? note : "",
	    note != NULL ? " " : "");
	free(note);
	return both;
}

/* What only some calls have. */
static void
add_extras(
    yyjson_mut_doc *doc, yyjson_mut_val *object, const struct outcome *outcome)
{
	if (outcome->value != NULL)
		yyjson_mut_obj_add_strncpy(doc, object, "value", outcome->value,
		    outcome->value_length);
	result_files_add_facts(doc, object, outcome);
	if (outcome->session == NULL)
		return;
	yyjson_mut_obj_add_strcpy(doc, object, "session", outcome->session);
	yyjson_mut_obj_add_bool(
	    doc, object, "session_ended", outcome->session_ended);
}

/* The original's object, its keys in its order; ours behind them. */
static char *
failure_text(const struct outcome *outcome, const struct settings *settings,
    size_t *length)
{
	yyjson_mut_doc *doc = json_new();
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	char *note = explain_all(outcome, settings), *text;

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
	add_extras(doc, root, outcome);
	text = json_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, length);
	yyjson_mut_doc_free(doc);
	free(note);
	return text;
}

/* Returns the list of items, which that text begins. */
static yyjson_mut_val *
add_text(yyjson_mut_doc *doc, yyjson_mut_val *result, const char *text,
    size_t length)
{
	yyjson_mut_val *content =
	    yyjson_mut_obj_add_arr(doc, result, "content");
	yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, content);

	yyjson_mut_obj_add_str(doc, item, "type", "text");
	yyjson_mut_obj_add_strncpy(doc, item, "text", text, length);
	return content;
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
	add_extras(doc, facts, outcome);
}

yyjson_mut_val *
result_build(yyjson_mut_doc *doc, const struct outcome *outcome,
    const struct language *language, const struct settings *settings,
    enum revision revision)
{
	yyjson_mut_val *result, *content;
	size_t length;
	char *text;

	if (!outcome->ran)
		return result_build_error(doc, outcome->err.message);
	result = yyjson_mut_obj(doc);
	text = succeeded(outcome) ? success_text(outcome, language, &length)
	                          : failure_text(outcome, settings, &length);
	content = add_text(doc, result, text, length);
	free(text);
	result_files_add_content(doc, content, outcome, revision);
	if (revision >= REVISION_2025_06_18)
		add_facts(doc, result, outcome);
	yyjson_mut_obj_add_false(doc, result, "isError");
	return result;
}

static yyjson_mut_val *
build_words(yyjson_mut_doc *doc, const char *words, bool is_error)
{
	yyjson_mut_val *result = yyjson_mut_obj(doc);

	add_text(doc, result, words, strlen(words));
	yyjson_mut_obj_add_bool(doc, result, "isError", is_error);
	return result;
}

yyjson_mut_val *
result_build_text(yyjson_mut_doc *doc, const char *text)
{
	return build_words(doc, text, false);
}

yyjson_mut_val *
result_build_error(yyjson_mut_doc *doc, const char *message)
{
	return build_words(doc, message, true);
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
	    "\"duration_ms\":{\"type\":\"integer\",\"minimum\":0},"
	    "\"value\":{\"type\":\"string\",\"description\":"
	    "\"In a session, the value of the last expression\"},"
	    "\"files\":{\"type\":\"array\",\"description\":"
	    "\"Files that the program wrote, and its figures\","
	    "\"items\":{\"type\":\"object\",\"properties\":{"
	    "\"path\":{\"type\":\"string\"},"
	    "\"size\":{\"type\":\"integer\",\"minimum\":0},"
	    "\"mimeType\":{\"type\":\"string\"},"
	    "\"returned\":{\"type\":\"boolean\",\"description\":"
	    "\"It is among the content items\"},"
	    "\"uri\":{\"type\":\"string\",\"description\":"
	    "\"Where it can be read while the session lasts\"}},"
	    "\"required\":[\"path\",\"size\",\"mimeType\",\"returned\"]}},"
	    "\"files_left_out\":{\"type\":\"integer\",\"minimum\":1,"
	    "\"description\":\"How many more files there were\"},"
	    "\"session\":{\"type\":\"string\",\"description\":"
	    "\"The handle of the session\"},"
	    "\"session_ended\":{\"type\":\"boolean\",\"description\":"
	    "\"The session did not outlive this call\"}},"
	    "\"required\":[\"exit_code\",\"signal\",\"stdout\",\"stderr\","
	    "\"timed_out\",\"truncated\",\"duration_ms\"]}";

	return json_copy_text(doc, schema, sizeof(schema) - 1);
}
