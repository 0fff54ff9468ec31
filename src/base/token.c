#include "base/token.h"

#include <stdio.h>
#include <string.h>

#include <bsd/stdlib.h>

void
token_make(char token[TOKEN_LENGTH + 1])
{
	for (int i = 0; i < TOKEN_LENGTH; i += 8)
		snprintf(token + i, 9, "%08x", arc4random());
}

bool
token_is_one(const char *text, char end)
{
	return strspn(text, "0123456789abcdef") == TOKEN_LENGTH &&
	    text[TOKEN_LENGTH] == end;
}

bool
token_equal(const char *given, const char *secret)
{
	size_t length = strlen(secret);
	unsigned char difference = 0;

	if (strlen(given) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		difference |= (unsigned char)(given[i] ^ secret[i]);
	return difference == 0;
}
