// Loaded by Node (--require) before the main module: takes in the hook, and goes
// on with it.  That comes on stdin, because the words of a command are read and
// written a dozen times on their way through an engine.  Worker threads load this
// too, and have nothing to wait for.
"use strict";

// Nobody wants the container any more when stdin ends.
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

function placeHook(fs) {
  const pieces = [];
  let left = Number(readLine(fs, 3)[1]);
  while (left > 0) {
    const piece = receive(fs, 3, left);
    pieces.push(piece);
    left -= piece.length;
  }
  for (const part of Buffer.concat(pieces).toString().split("\x1e").slice(1)) {
    const end = part.indexOf("\n");
    fs.writeFileSync(`${__dirname}/${part.slice(0, end)}`, part.slice(end + 1));
  }
}

delete require.cache[__filename];
if (process.env.SANDBOX_RUNNER) {
  const fs = require("fs");
  placeHook(fs);
  require(__dirname + "/hook.cjs")(fs, receive, readLine);
}
