// Calls that may take long, through a client library that declares the tasks
// extension. The library knows no tasks by itself: it hands the result over as
// an error, and then the task is polled, as an application would do it. Prints
// what came back, as JSON; the test compares.
//
//	node tasks.mjs CALLS COMMAND [ARGUMENT ...]
//
// CALLS is a JSON array of [name, tool, arguments]; all are made at once.
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [calls, command, ...args] = process.argv.slice(2);
const extensions = { "io.modelcontextprotocol/tasks": {} };
const client = new Client({ name: "tasks.mjs", version: "1" },
  { versionNegotiation: { mode: "auto" }, capabilities: { extensions } });
const transport = new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });

await client.connect(transport);
const anything = { "~standard": { version: 1, vendor: "tasks.mjs", validate: value => ({ value }) } };
const tasks = []; // in the order in which calls hear of theirs
const receive = transport.onmessage;
transport.onmessage = (message, extra) => {
  if (message.result?.resultType === "task") tasks.push(message.result);
  receive(message, extra);
};

async function poll(said) {
  const { taskId, pollIntervalMs } = tasks.shift();
  for (;;) {
    const task = await client.request({ method: "tasks/get", params: { taskId } }, anything);
    if (task.status !== "working") return task.result;
    said.push(task.statusMessage);
    await sleep(pollIntervalMs);
  }
}

async function run([name, tool, wanted]) {
  const said = [];
  const result = await client.callTool({ name: tool, arguments: wanted }).catch(error => {
    if (error.data?.resultType !== "task") throw error;
    return poll(said);
  });
  return [name, { said, result }];
}

const report = await Promise.all(JSON.parse(calls).map(run));
await client.close();
console.log(JSON.stringify(Object.fromEntries(report)));
