#ifndef JSON_H
#define JSON_H

#include <stddef.h>

#include <yyjson.h>

/*
 * yyjson on memory that does not return NULL (see alloc.h).  Otherwise a field
 * that could not be added would be missing in an answer, and an answer that
 * could not be written would never come, without a word.
 */
yyjson_mut_doc *json_new(void);
/* NULL when it is not JSON; data is not written to.  Half of a surrogate pair,
 * which some writers leave when they cut a text, is read as U+FFFD. */
yyjson_doc *json_read(const char *data, size_t length, yyjson_read_err *err);
/* Text of ours that is JSON, as a value of the document. */
yyjson_mut_val *json_copy_text(
    yyjson_mut_doc *doc, const char *text, size_t length);
/* The text is the caller's to free; length may be NULL. */
char *json_write(
    const yyjson_mut_doc *doc, yyjson_write_flag flags, size_t *length);
char *json_write_value(const yyjson_mut_val *value);
char *json_write_read_value(const yyjson_val *value);

#endif
