#include <signal.h>
#include <stdlib.h>

#include "suites.h"

typedef Suite *suite_fn(void);

static suite_fn *const suites[] = {utf8_suite, base64_suite, work_path_suite,
    capture_suite, marker_suite, collector_suite, lines_suite, log_suite,
    redact_suite, strbuf_suite, strlist_suite, tar_suite, language_suite,
    language_file_suite, revision_suite, owner_suite, err_suite,
    environment_suite, engine_argv_suite, options_suite, rpc_suite,
    http_mirror_suite, tool_arguments_suite, tools_suite, result_suite,
    resources_suite, child_suite, command_suite, pool_suite, progress_suite,
    token_suite, tasks_suite, mcp_suite, mcp_modern_suite, batch_suite,
    calls_suite, spinner_suite, terminal_suite, picture_suite, save_suite,
    cli_input_suite, cli_output_suite};

int
main(void)
{
	SRunner *runner = srunner_create(NULL);
	int failed;

	/* As in the program: a pipe that nobody reads is an error, not an
	 * end. */
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		srunner_add_suite(runner, suites[i]());
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
