#include "engine/environment.h"

#include <stdlib.h>
#include <string.h>

#include "helpers.h"
#include "suites.h"

static const char *const world[] = {"PATH=/bin", "HOME=/home/me", "USER=me",
    "XDG_RUNTIME_DIR=/run/user/1", "DOCKER_HOST=unix:///x", "CONTAINER_HOST=y",
    "CONTAINERS_CONF=z", "PODMAN_USERNS=auto", "STORAGE_DRIVER=vfs",
    "REGISTRY_AUTH_FILE=/auth", "AWS_SECRET_ACCESS_KEY=s1", "GEMINI_API_KEY=s2",
    "PATHOLOGY=s3", "HOMEX=s4", "XDG=s5", "DOCKER=s6", "XPATH=s7", "FOO_BAR=s8",
    "FOO=s9", "foo=s10", "LD_PRELOAD=/evil.so", "http_proxy=http://u:p@proxy",
    "https_proxy=hp", "no_proxy=np", "HTTP_PROXY=HP", "HTTPS_PROXY=HPS",
    "NO_PROXY=NP", "ALL_PROXY=s11", "GOGC=50", NULL};

static char *
for_engine(const char *pass)
{
	struct strlist env = {0}, names = {0};
	char *text;

	environment_set(world);
	strlist_add_split(&names, pass, ',');
	environment_for_engine(&env, &names);
	text = strlist_text(&env);
	strlist_release(&env);
	strlist_release(&names);
	return text;
}

static char *
for_pull(void)
{
	struct strlist env = {0};
	char *text;

	environment_set(world);
	environment_for_pull(&env);
	text = strlist_text(&env);
	strlist_release(&env);
	return text;
}

#define ENGINE_PART \
	"PATH=/bin\nHOME=/home/me\nUSER=me\nXDG_RUNTIME_DIR=/run/user/1\n" \
	"DOCKER_HOST=unix:///x\nCONTAINER_HOST=y\nCONTAINERS_CONF=z\n" \
	"PODMAN_USERNS=auto\nSTORAGE_DRIVER=vfs\nREGISTRY_AUTH_FILE=/auth\n"

#define FASTER "GOGC=400\n"

START_TEST(only_what_the_engine_needs)
{
	char *text = for_engine("");

	ck_assert_str_eq(text, ENGINE_PART FASTER);
	free(text);
}
END_TEST

static const struct {
	const char *name;
	const char *pass;
	const char *expected;
} passes[] = {
    {"a secret that is passed", "GEMINI_API_KEY",
        ENGINE_PART "GEMINI_API_KEY=s2\n" FASTER},
    {"a name that is the beginning of others", "FOO",
        ENGINE_PART "FOO=s9\n" FASTER},
    {"a longer name", "FOO_BAR", ENGINE_PART "FOO_BAR=s8\n" FASTER},
    {"a prefix with its underscore", "FOO_", ENGINE_PART FASTER},
    {"half a name", "GEMINI_API", ENGINE_PART FASTER},
    {"a name in small letters", "foo", ENGINE_PART "foo=s10\n" FASTER},
    {"a name that is not set", "NOT_SET", ENGINE_PART FASTER},
    {"two names", "FOO,GEMINI_API_KEY",
        ENGINE_PART "GEMINI_API_KEY=s2\nFOO=s9\n" FASTER},
    {"a name that the engine gets anyway, once", "PATH", ENGINE_PART FASTER},
    {"a proxy that is passed", "http_proxy",
        ENGINE_PART "http_proxy=http://u:p@proxy\n" FASTER},
    {"the one that we set", "GOGC", ENGINE_PART "GOGC=50\n"},
};

START_TEST(passed_through)
{
	char *text = for_engine(passes[_i].pass);

	ck_assert_msg(strcmp(text, passes[_i].expected) == 0, "%s: %s",
	    passes[_i].name, text);
	free(text);
}
END_TEST

START_TEST(pull_has_the_proxies)
{
	char *text = for_pull();

	ck_assert_str_eq(text,
	    ENGINE_PART "http_proxy=http://u:p@proxy\nhttps_proxy=hp\n"
	                "no_proxy=np\nHTTP_PROXY=HP\nHTTPS_PROXY=HPS\n"
	                "NO_PROXY=NP\n");
	free(text);
}
END_TEST

START_TEST(engine_has_no_proxies)
{
	char *text = for_engine("");

	ck_assert_ptr_null(strcasestr(text, "proxy"));
	free(text);
}
END_TEST

static const char *const secrets[] = {"AWS_SECRET_ACCESS_KEY", "GEMINI_API_KEY",
    "LD_PRELOAD", "FOO", "PATHOLOGY", "HOMEX", "XDG=", "DOCKER=", "XPATH",
    "ALL_PROXY"};

START_TEST(secrets_do_not_get_in)
{
	char *engine = for_engine(""), *pull = for_pull();

	ck_assert_msg(
	    strstr(engine, secrets[_i]) == NULL, "engine: %s", secrets[_i]);
	ck_assert_msg(
	    strstr(pull, secrets[_i]) == NULL, "pull: %s", secrets[_i]);
	free(engine);
	free(pull);
}
END_TEST

START_TEST(an_empty_environment)
{
	struct strlist env = {0}, none = {0};
	static const char *const nothing[] = {NULL};

	environment_set(nothing);
	environment_for_engine(&env, &none);
	ck_assert_uint_eq(env.count, 1);
	ck_assert_str_eq(env.items[0], "GOGC=400");
	strlist_release(&env);
}
END_TEST

Suite *
environment_suite(void)
{
	Suite *suite = suite_create("environment");
	TCase *tcase = tcase_create("environment");

	environment_fixture(tcase);
	tcase_add_test(tcase, only_what_the_engine_needs);
	tcase_add_loop_test(tcase, passed_through, 0, COUNT(passes));
	tcase_add_test(tcase, pull_has_the_proxies);
	tcase_add_test(tcase, engine_has_no_proxies);
	tcase_add_loop_test(tcase, secrets_do_not_get_in, 0, COUNT(secrets));
	tcase_add_test(tcase, an_empty_environment);
	suite_add_tcase(suite, tcase);
	return suite;
}
