#ifndef SUITES_H
#define SUITES_H

#include <check.h>

/* One suite a module; main.c runs them all. */
Suite *base64_suite(void);
Suite *batch_suite(void);
Suite *calls_suite(void);
Suite *capture_suite(void);
Suite *child_suite(void);
Suite *cli_input_suite(void);
Suite *cli_output_suite(void);
Suite *command_suite(void);
Suite *engine_argv_suite(void);
Suite *environment_suite(void);
Suite *err_suite(void);
Suite *http_mirror_suite(void);
Suite *language_file_suite(void);
Suite *language_suite(void);
Suite *lines_suite(void);
Suite *log_suite(void);
Suite *marker_suite(void);
Suite *collector_suite(void);
Suite *mcp_modern_suite(void);
Suite *mcp_suite(void);
Suite *options_suite(void);
Suite *owner_suite(void);
Suite *picture_suite(void);
Suite *pool_suite(void);
Suite *progress_suite(void);
Suite *redact_suite(void);
Suite *resources_suite(void);
Suite *result_suite(void);
Suite *revision_suite(void);
Suite *rpc_suite(void);
Suite *save_suite(void);
Suite *spinner_suite(void);
Suite *strbuf_suite(void);
Suite *strlist_suite(void);
Suite *tar_suite(void);
Suite *tasks_suite(void);
Suite *terminal_suite(void);
Suite *token_suite(void);
Suite *tool_arguments_suite(void);
Suite *tools_suite(void);
Suite *utf8_suite(void);
Suite *work_path_suite(void);

#endif
