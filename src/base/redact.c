#include "base/redact.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/strbuf.h"

/* Programs take off the blanks around a value before they use it, so these do
 * not count.  False: what is left is too short. */
static bool
add_part(
    struct secrets *secrets, const char *name, const char *text, size_t length)
{
	static const char blanks[] = " \t\r\n";
	char *value;

	while (length > 0 && strchr(blanks, text[length - 1]) != NULL)
		length--;
	for (; length > 0 && strchr(blanks, *text) != NULL; length--)
		text++;
	if (length < SECRET_MIN)
		return false;
	value = xstrndup(text, length);
	strlist_add(&secrets->names, name);
	strlist_add(&secrets->values, value);
	free(value);
	secrets->first[(unsigned char)*text] = true;
	if (length > secrets->longest)
		secrets->longest = length;
	return true;
}

void
secrets_add(struct secrets *secrets, const char *name, const char *value)
{
	if (!add_part(secrets, name, value, strlen(value))) {
		log_warn("--redact: the value of %s is shorter than %d "
		         "characters; it is not taken out of the output",
		    name, SECRET_MIN);
		return;
	}
	/* A key of several lines is seldom printed just as it is. */
	if (strchr(value, '\n') == NULL)
		return;
	for (size_t line; *value != '\0';
	    value += line + (value[line] != '\0')) {
		line = strcspn(value, "\n");
		add_part(secrets, name, value, line);
	}
}

void
secrets_release(struct secrets *secrets)
{
	strlist_release(&secrets->names);
	strlist_release(&secrets->values);
	*secrets = (struct secrets){0};
}

void
redactor_init(struct redactor *redactor, const struct secrets *secrets,
    redact_emit_fn *emit, void *arg)
{
	*redactor =
	    (struct redactor){.secrets = secrets, .emit = emit, .arg = arg};
	if (secrets->longest > 0)
		redactor->held = xcalloc(1, secrets->longest);
}

void
redactor_release(struct redactor *redactor)
{
	free(redactor->held);
	redactor->held = NULL;
}

enum match { MATCH_NONE, MATCH_PART, MATCH_WHOLE };

/* How far the text goes along with a secret; the longest wins, so that one
 * that is the beginning of another does not leave the rest behind. */
static enum match
match_at(const struct secrets *secrets, const char *text, size_t length,
    bool last, size_t *which)
{
	size_t best = 0;
	bool part = false;

	if (!secrets->first[(unsigned char)*text])
		return MATCH_NONE;
	for (size_t i = 0; i < secrets->values.count; i++) {
		const char *value = secrets->values.items[i];
		size_t wanted = strlen(value);

		if (wanted > length)
			part |= memcmp(text, value, length) == 0;
		else if (wanted > best && memcmp(text, value, wanted) == 0) {
			best = wanted;
			*which = i;
		}
	}
	if (part && !last)
		return MATCH_PART;
	return best > 0 ? MATCH_WHOLE : MATCH_NONE;
}

static void
emit_name(struct redactor *redactor, const char *name)
{
	char *text = xasprintf("[%s]", name);

	redactor->emit(redactor->arg, text, strlen(text));
	free(text);
}

/* Passes on what is certain; returns how much of the text is. */
static size_t
pass_on(struct redactor *redactor, const char *text, size_t length, bool last)
{
	const struct secrets *secrets = redactor->secrets;
	size_t begin = 0, at = 0, which = 0;

	while (at < length) {
		enum match match =
		    match_at(secrets, text + at, length - at, last, &which);

		if (match == MATCH_PART)
			break;
		if (match == MATCH_WHOLE) {
			if (at > begin)
				redactor->emit(
				    redactor->arg, text + begin, at - begin);
			emit_name(redactor, secrets->names.items[which]);
			at += strlen(secrets->values.items[which]);
			begin = at;
		} else {
			at++;
		}
	}
	if (at > begin)
		redactor->emit(redactor->arg, text + begin, at - begin);
	return at;
}

static void
process(struct redactor *redactor, const char *data, size_t length, bool last)
{
	size_t held = redactor->held_length;
	char *joined = NULL;
	size_t done;

	if (held > 0) {
		joined = xcalloc(1, held + length);
		memcpy(joined, redactor->held, held);
		memcpy(joined + held, data, length);
		data = joined;
		length += held;
	}
	done = pass_on(redactor, data, length, last);
	redactor->held_length = length - done;
	memcpy(redactor->held, data + done, length - done);
	free(joined);
}

void
redactor_feed(struct redactor *redactor, const char *data, size_t length)
{
	if (redactor->held == NULL)
		redactor->emit(redactor->arg, data, length);
	else
		process(redactor, data, length, false);
}

void
redactor_flush(struct redactor *redactor)
{
	if (redactor->held != NULL && redactor->held_length > 0)
		process(redactor, "", 0, true);
}

static void
on_redacted(void *arg, const char *data, size_t length)
{
	strbuf_add(arg, data, length);
}

void
redact(const struct secrets *secrets, char **data, size_t *length)
{
	struct redactor redactor;
	struct strbuf text = {0};

	if (*data == NULL || secrets->values.count == 0)
		return;
	redactor_init(&redactor, secrets, on_redacted, &text);
	redactor_feed(&redactor, *data, *length);
	redactor_flush(&redactor);
	redactor_release(&redactor);
	free(*data);
	strbuf_add(&text, "", 0);
	*data = text.data;
	*length = text.length;
}
