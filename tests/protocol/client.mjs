// A session with the server through a client library, as an application would
// have it. Prints what came back, as JSON; the test compares. Every message is
// written to a file as record-stdio does.
//
//	node client.mjs sdk|client legacy|auto|MODERN_REVISION RECORD ENGINE URL
//	node client.mjs sdk|client legacy|auto|MODERN_REVISION RECORD ENGINE COMMAND [ARGUMENT ...]
import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [library, era, record, engine, target, ...args] = process.argv.slice(2);
const overHttp = target.startsWith("http://");

async function load() {
  const at = path => import(library === "sdk" ? `@modelcontextprotocol/sdk/client/${path}.js` : "@modelcontextprotocol/client");
  const { Client } = await at("index");
  const { StreamableHTTPClientTransport } = await at("streamableHttp");
  const { StdioClientTransport } = library === "sdk" ? await at("stdio") : await import("@modelcontextprotocol/client/stdio");
  return { Client, StreamableHTTPClientTransport, StdioClientTransport };
}

function recorded(transport) {
  const write = (from, message) => appendFileSync(record, JSON.stringify({ from, line: JSON.stringify(message) }) + "\n");
  const send = transport.send.bind(transport);
  let receive;
  transport.send = (message, options) => {
    write("client", message);
    return send(message, options);
  };
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => receive,
    set: handler => {
      receive = handler && ((message, extra) => {
        write("server", message);
        handler(message, extra);
      });
    },
  });
  return transport;
}

const { Client, StreamableHTTPClientTransport, StdioClientTransport } = await load();
const mode = ["legacy", "auto"].includes(era) ? era : { pin: era };
const client = new Client({ name: "client.mjs", version: "1" }, library === "sdk" ? {} : { versionNegotiation: { mode } });
const transport = overHttp
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args, env: process.env, stderr: "inherit" });
await client.connect(recorded(transport));

const call = (name, args, options) =>
  library === "sdk"
    ? client.callTool({ name, arguments: args }, undefined, options)
    : client.callTool({ name, arguments: args }, options);
const python = (code, options, more) => call("run_python_code", { code, ...more }, options);
const settled = promise => promise.then(() => "no error", error => error.code ?? error.name);

const report = { server: client.getServerVersion()?.name };
report.tools = (await client.listTools()).tools.map(tool => tool.name);
report.resources = (await client.listResources()).resources.map(resource => resource.uri);
report.resource = (await client.readResource({ uri: "sandbox://environments" })).contents[0].uri;
report.noResource = await settled(client.readResource({ uri: "sandbox://none" }));
report.python = await python("print(6 * 7)");
report.javascript = await call("run_js_code", { code: "console.log(6 * 7)" });
report.failed = await python("import sys; sys.exit(3)");
report.refused = await python("");
report.late = await python("import time; print('up', flush=True); time.sleep(300)", undefined, { timeout_seconds: 1 });
report.unknown = await settled(call("no_such_tool", {}));
report.progress = [];
report.slow = await python("import time\nfor i in range(3): print(i); time.sleep(1)",
  { onprogress: progress => report.progress.push(progress.progress) });

// Cancelled when it is known to run; then its container must go while we stay.
const containers = () => {
  const prefix = `code-sandbox-mcp-${overHttp ? process.env.SERVER_PID : transport.pid}-`;
  return execFileSync(engine, ["ps", "--all", "--format", "{{.Names}}"], { encoding: "utf8" })
    .split("\n").filter(name => name.startsWith(prefix));
};
const until = async condition => {
  const deadline = Date.now() + 40000;
  while (!condition() && Date.now() < deadline) await sleep(100);
};
const abort = new AbortController();
let up = false;
const doomed = settled(python("import time; print('up', flush=True); time.sleep(300)",
  { signal: abort.signal, onprogress: progress => { up ||= progress.message.includes("up"); } }, { timeout_seconds: 300 }));
await until(() => up);
report.whileRunning = containers().length;
abort.abort("enough");
report.aborted = (await doomed) !== "no error";
await until(() => containers().length === 0);
report.afterwards = containers().length;
report.next = await python("print('still here')");
report.many = await Promise.all([...Array(6).keys()].map(i => python(`print(${i})`).then(r => r.content[0].text)));
if (overHttp && transport.terminateSession) await transport.terminateSession();
await client.close();
console.log(JSON.stringify(report));
