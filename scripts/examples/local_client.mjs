#!/usr/bin/env node
// Starts the server, lists its tools and runs JavaScript in the sandbox.
// Needs nothing but Node.js.
//
//     local_client.mjs [SERVER [ARGUMENT ...]]     (default: code-sandbox-mcp)
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const code = `
console.log("Hello from Node", process.version);
console.log([...Array(10).keys()].reduce((sum, n) => sum + n * n, 0));
`;

function fail(message) {
  console.error(message);
  process.exit(1);
}

// One JSON-RPC message a line, over the server's stdin and stdout.
class Client {
  constructor([command, ...args]) {
    this.lastId = 0;
    this.server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.server.on("error", e => fail(`cannot start ${command}: ${e.message}`));
    this.server.stdin.on("error", () => {}); // ask() notices that it is gone
    this.exit = once(this.server, "exit");
    this.lines =
        createInterface({ input: this.server.stdout })[Symbol.asyncIterator]();
  }

  send(message) {
    this.server.stdin.write(
        JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  async ask(method, params) {
    const id = ++this.lastId;
    this.send({ id, method, params });
    for (;;) {
      const { value, done } = await this.lines.next();
      if (done)
        fail(`${method}: the server went away without an answer`);
      const answer = JSON.parse(value);
      if (answer.id !== id)
        continue; // a notification
      if (answer.error)
        fail(`${method}: ${answer.error.message}`);
      return answer.result;
    }
  }

  async close() {
    this.server.stdin.end();
    const [status] = await this.exit;
    if (status !== 0)
      fail(`the server ended with status ${status}`);
  }
}

const command = process.argv.slice(2);
const client = new Client(command.length > 0 ? command : ["code-sandbox-mcp"]);
const hello = await client.ask("initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "local_client.mjs", version: "1" },
});
client.send({ method: "notifications/initialized" });
console.log("server:", hello.serverInfo.name, hello.serverInfo.version);

const tools = (await client.ask("tools/list", {})).tools.map(t => t.name);
console.log("tools:", tools.join(", "));
if (!tools.includes("run_js_code"))
  fail("there is no tool run_js_code");

const result = await client.ask("tools/call", {
  name: "run_js_code",
  arguments: { code },
});
const text = result.content[0].text;
console.log(text);
if (result.isError)
  fail("the sandbox could not run the code");
if (result.structuredContent.exit_code !== 0 || !text.includes("285"))
  fail("that is not what the code should print");
await client.close();
