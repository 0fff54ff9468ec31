// Loaded by Node (--require) before the main module: waits here for the code.
// When it is over the environment is that of the plain command.  Worker threads
// load it too, and have nothing to wait for.
"use strict";

function say(fs, nonce, word, streams) {
  for (const stream of streams)
    fs.writeSync(stream, `\x1e${nonce} ${word}\n`);
}

function readCode(fs) {
  const piece = Buffer.allocUnsafe(1 << 20);
  let code = Buffer.alloc(0);
  let size = null;
  while (size === null || code.length < size) {
    const got = fs.readSync(3, piece, 0, piece.length, null);
    if (got === 0)
      process.reallyExit(0);
    code = Buffer.concat([code, piece.subarray(0, got)]);
    const end = size === null ? code.indexOf(10) : -1;
    if (end >= 0) {
      size = Number(code.subarray(0, end));
      code = code.subarray(end + 1);
    }
  }
  return code;
}

function wait(fs) {
  const [nonce, file] = process.env.SANDBOX_RUNNER.split(" ");
  const options = process.env.NODE_OPTIONS.split(" ").slice(1).join(" ");
  delete process.env.SANDBOX_RUNNER;
  if (options)
    process.env.NODE_OPTIONS = options;
  else
    delete process.env.NODE_OPTIONS;
  say(fs, nonce, "ready", [1, 2]);
  fs.writeFileSync(file, readCode(fs));
  say(fs, nonce, "started", [1]);
  fs.writeSync(7, "\n");
  fs.closeSync(3);
  fs.closeSync(7);
}

delete require.cache[__filename];
if (process.env.SANDBOX_RUNNER)
  wait(require("fs"));
