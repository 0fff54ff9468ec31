// A session with the server through a client library, as an application would
// have it. Prints what came back, as JSON; the test compares.
//
//	node session.mjs sdk|client-legacy|client-auto COMMAND [ARGUMENT ...]
const [library, command, ...args] = process.argv.slice(2);

async function connect() {
  const info = { name: "session.mjs", version: "1" };
  const transportOptions = { command, args, env: process.env, stderr: "inherit" };
  if (library === "sdk") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const client = new Client(info);
    await client.connect(new StdioClientTransport(transportOptions));
    return client;
  }
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const mode = library === "client-auto" ? "auto" : "legacy";
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport(transportOptions));
  return client;
}

const client = await connect();
const call = (name, args, options) =>
  library === "sdk"
    ? client.callTool({ name, arguments: args }, undefined, options)
    : client.callTool({ name, arguments: args }, options);

const report = { server: client.getServerVersion()?.name };
report.tools = (await client.listTools()).tools.map(tool => tool.name);
report.python = await call("run_python_code", { code: "print(6 * 7)" });
report.javascript = await call("run_js_code", { code: "console.log(6 * 7)" });
report.failed = await call("run_python_code", { code: "import sys; sys.exit(3)" });
report.refused = await call("run_python_code", { code: "" });
report.late = await call("run_python_code",
  { code: "import time; print('up', flush=True); time.sleep(300)", timeout_seconds: 2 });
report.unknown = await call("no_such_tool", {}).then(() => "no error", error => error.code);
report.progress = [];
report.slow = await call("run_python_code",
  { code: "import time\nfor i in range(3): print(i); time.sleep(1)" },
  { onprogress: progress => report.progress.push(progress.progress) });

// Aborting sends notifications/cancelled; the connection goes on.
const abort = new AbortController();
const doomed = call("run_python_code", { code: "import time; time.sleep(300)" }, { signal: abort.signal });
setTimeout(() => abort.abort("enough"), 500);
report.aborted = await doomed.then(() => "no error", () => "aborted");
report.after = await call("run_python_code", { code: "print('still here')" });

// What a call can bring along, and what comes back.
report.files = await call("run_python_code", {
  code: "import sys; open('out.txt', 'w').write(open('in.txt').read() + sys.argv[1] + sys.stdin.read())",
  files: [{ path: "in.txt", text: "a" }], args: ["b"], stdin: "c",
});
report.binary = await call("run_python_code", {
  code: "data = open('in.bin', 'rb').read(); open('out/large.bin', 'wb').write(data * 100000)",
  files: [{ path: "in.bin", base64: "AP/+" }, { path: "out/x", text: "" }], outputs: ["**/*.bin"],
});
if (library === "sdk") { // one is enough: installers take their time
  report.package = await call("run_python_code", { code: "import answer; print(answer.value)", packages: ["answer"] });
  report.module = await call("run_js_code", { code: "console.log(require('answer').value)", packages: ["answer"] });
}
report.plot = await call("run_python_code",
  { code: "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()" });
const first = await call("run_js_code", { code: "const x = await 41", session: "new" });
const { session } = first.structuredContent;
report.value = await call("run_js_code",
  { code: "require('fs').writeFileSync('big.txt', 'y'.repeat(100000)); x + 1", session });
const link = report.value.content.find(item => item.type === "resource_link");
report.linked = (await client.readResource({ uri: link.uri })).contents[0].text.length;
report.ended = await call("end_session", { session });
report.gone = await call("run_js_code", { code: "x", session });

report.resource = (await client.readResource({ uri: "sandbox://environments" })).contents[0].uri;
await client.close();
console.log(JSON.stringify(report));
