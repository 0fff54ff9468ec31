// Goes on where boot.cjs ends: waits here for the code.  When it is over the
// environment is that of the plain command.
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

function takeCode(fs, receive, file, left) {
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
  return takeStdin(fs);
}

// What it is that has this number now.
function identify(fs, fd) {
  try {
    const { dev, ino } = fs.fstatSync(fd);
    return `${dev} ${ino}`;
  } catch {
    return "closed";
  }
}

// What was put there, and by which number.
let placed, stdin = 0;

// The lowest number that is free is the one that is opened: 0, unless what has it
// by now is a snippet's.
function takeStdin(fs) {
  const given = fs.existsSync(SCRATCH + "/stdin");
  if (!placed || identify(fs, stdin) === placed)
    fs.closeSync(stdin);
  stdin = fs.openSync(given ? SCRATCH + "/stdin" : "/dev/null");
  if (given)
    fs.unlinkSync(SCRATCH + "/stdin");
  placed = identify(fs, stdin);
  return stdin;
}

delete require.cache[__filename];
module.exports = function wait(fs, receive, readLine) {
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
    takeCode(fs, receive, file, Number(line[1]));
  fs.writeSync(7, "\n");
  fs.closeSync(3);
  if (line[0] !== "code") {
    const how = readLine(fs, 8);
    takeExtras(fs);
    if (how[0] === "session")
      return require(OWN + "/session.cjs")(nonce, file, takeExtras, identify);
  }
  say(fs, nonce, "started", [1]);
  fs.closeSync(7);
  fs.closeSync(8);
};
