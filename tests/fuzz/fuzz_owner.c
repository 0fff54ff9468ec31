#include "fuzz.h"

#include <string.h>

#include "base/alloc.h"
#include "engine/owner.h"

/*
 * Input: the label of a container, which anybody may have written; "@" stands
 * for what our own has in that field.  An owner is only ever taken for dead if
 * it was on this machine, and one that lives never.
 */

static char *
fill_in(const struct input *input, const char *self)
{
	struct bytes label = {0};

	for (size_t i = 0; i < input->length; i++) {
		size_t field = strcspn(self, ":");

		if (input->data[i] == '@')
			bytes_add(&label, self, field);
		else
			bytes_add(&label, &input->data[i], 1);
		if (input->data[i] == ':' && self[field] == ':')
			self += field + 1;
	}
	bytes_add(&label, "", 1);
	return label.data;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_begin(data, size);
	char self[OWNER_LENGTH], *label;

	owner_self(self);
	EXPECT(!owner_is_dead(self));
	label = fill_in(&input, self);
	if (owner_is_dead(label)) {
		EXPECT(strncmp(label, self, strcspn(self, ":") + 1) == 0);
		EXPECT(strcmp(label, self) != 0);
	}
	free(label);
	return 0;
}
