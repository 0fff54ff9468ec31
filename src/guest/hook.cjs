// Loaded by Node (--require) before the main module: waits here for the code.
// When it is over the environment is that of the plain command.  Worker threads
// load it too, and have nothing to wait for.
"use strict";

// A session's snippets may declare one of their own.
const { process } = globalThis;
const COMMAND = process.argv.slice(0, 2);
const OWN = "/run/sandbox-runner";
const SCRATCH = "/home/sandbox/.sandbox";

function say(fs, nonce, word, streams) {
  for (const stream of streams)
    fs.writeSync(stream, `\x1e${nonce} ${word}\n`);
}

function receive(fs, fd, most) {
  const piece = Buffer.allocUnsafe(Math.min(most, 1 << 16));
  const got = fs.readSync(fd, piece, 0, piece.length, null);
  if (got === 0)
    process.reallyExit(0);
  return piece.subarray(0, got);
}

// One byte at a time: what follows may be for somebody else.
function readLine(fs, fd) {
  let line = "";
  while (!line.endsWith("\n"))
    line += receive(fs, fd, 1).toString("latin1");
  return line.trim().split(" ");
}

function takeCode(fs, file, left) {
  const target = fs.openSync(file, "w");
  while (left > 0) {
    const code = receive(fs, 3, left);
    left -= code.length;
    fs.writeFileSync(target, code);
  }
  fs.closeSync(target);
}

// NULL when there is none.
function takeFile(fs, name) {
  if (!fs.existsSync(name))
    return null;
  const content = fs.readFileSync(name);
  fs.unlinkSync(name);
  return content;
}

// The servant has put in place what there is.
function takeExtras(fs) {
  const given = takeFile(fs, OWN + "/arguments");
  const words = given ? given.toString().split("\0").slice(0, -1) : [];
  process.argv = [...COMMAND, ...words];
  // The lowest number that is free is the one that is opened.
  fs.closeSync(0);
  if (fs.existsSync(SCRATCH + "/stdin")) {
    fs.openSync(SCRATCH + "/stdin");
    fs.unlinkSync(SCRATCH + "/stdin");
  } else {
    fs.openSync("/dev/null");
  }
}

function wait(fs) {
  const [nonce, file] = process.env.SANDBOX_RUNNER.split(" ");
  const options = process.env.NODE_OPTIONS.split(" ").slice(2).join(" ");
  delete process.env.SANDBOX_RUNNER;
  if (options)
    process.env.NODE_OPTIONS = options;
  else
    delete process.env.NODE_OPTIONS;
  say(fs, nonce, "ready", [1, 2]);
  const line = readLine(fs, 3);
  if (line[0] === "code")
    takeCode(fs, file, Number(line[1]));
  fs.writeSync(7, "\n");
  fs.closeSync(3);
  if (line[0] !== "code") {
    const how = readLine(fs, 8);
    takeExtras(fs);
    if (how[0] === "session")
      return require(OWN + "/session.cjs")(nonce, file, takeExtras);
  }
  say(fs, nonce, "started", [1]);
  fs.closeSync(7);
  fs.closeSync(8);
}

delete require.cache[__filename];
if (process.env.SANDBOX_RUNNER)
  wait(require("fs"));
