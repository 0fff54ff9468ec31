// Goes on from hook.cjs when the call is the first of a session: runs one
// snippet after the other in the same global scope, until the container goes.
// V8's own REPL mode does the work: top-level await, names that may be declared
// again by the same keyword, and the value of the last expression.
"use strict";

// What a snippet declares takes the place of a global, for us too.
const { Atomics, Buffer, Error, JSON, Promise, RegExp, SyntaxError, URL, process } = globalThis;
// A copy: snippets may put functions of their own in the place of these.
const fs = { ...require("fs") };
const inspector = require("inspector");
const path = require("path");
const { inspect, types } = require("util");
const vm = require("vm");
const { Writable } = require("stream");
const { Module, createRequire, stripTypeScriptTypes } = require("module");
const { pathToFileURL } = require("url");
const { Worker } = require("worker_threads");

const FIGURES = "/home/sandbox/.sandbox/figures";
const VALUE_MAX = 100000;
// What may stand ahead of it: a declaration, a document type, comments.
const SVG = /^(?:\s|<\?(?:(?!\?>)[^])*\?>|<!--(?:(?!-->)[^])*-->|<![a-z][^>]*>)*<svg[\s>/]/i;

// Listens when the main thread cannot: an endless loop is ended from here, and so
// is a command that it waits for.  One that merely waits can hear for itself, which
// it says by counting up.
const listen = `
  const fs = require("fs");
  const { Socket } = require("net");
  const { parentPort, workerData } = require("worker_threads");
  const { Session } = require("inspector");
  const heard = new Int32Array(workerData);
  // Not connected for long: the main thread would wait for that at its end.  What
  // it hits need not be the snippet, so it is told as well.
  function terminate(snippet) {
    const session = new Session();
    session.connectToMainThread();
    session.post("Runtime.terminateExecution", () => {
      session.disconnect();
      parentPort.postMessage("terminated " + snippet);
    });
  }
  // The one that was started last is the one that is waited for.
  function childrenOf(pid) {
    try {
      const list = fs.readFileSync("/proc/" + pid + "/task/" + pid + "/children", "utf8");
      return list.match(/\\d+/g) || [];
    } catch {
      return [];
    }
  }
  function kill(pid) {
    childrenOf(pid).forEach(kill);
    try {
      process.kill(pid, "SIGKILL");
    } catch { /* it has ended */ }
  }
  function hear(word) {
    const before = Atomics.load(heard, 0), snippet = Atomics.load(heard, 1);
    parentPort.postMessage(word);
    if (word !== "interrupt" || Atomics.wait(heard, 0, before, 200) !== "timed-out")
      return;
    terminate(snippet);
    setTimeout(() => {
      if (Atomics.load(heard, 0) === before)
        childrenOf(process.pid).slice(-1).forEach(kill);
    }, 300);
  }
  // Not a read that blocks: the process would wait for that at its end.
  new Socket({ fd: 8, readable: true, writable: false }).on("data", (lines) =>
    lines.toString().trim().split("\\n").forEach(hear));
`;

function write(stream, text) {
  for (let rest = Buffer.from(text); rest.length > 0;) {
    try {
      rest = rest.subarray(fs.writeSync(stream, rest));
    } catch (error) {
      if (error.code !== "EAGAIN")
        return;
    }
  }
}

// Of stdout and stderr, those that were used.  The others stay closed: to open
// one takes the blocking off a pipe, for all who share it.
function watchStreams() {
  const used = new Set();
  for (const name of ["stdout", "stderr"]) {
    const { get } = Object.getOwnPropertyDescriptor(process, name);
    Object.defineProperty(process, name, {
      configurable: true, enumerable: true,
      get: () => { const stream = get.call(process); used.add(stream); return stream; },
    });
  }
  return used;
}

// Snippets may have put a function of their own in the place of write().
const { write: append } = Writable.prototype;
function drain(stream) {
  return new Promise((resolve) =>
    stream.writable && stream.writableLength > 0 ? append.call(stream, "", resolve) : resolve());
}

// Of each name that is imported: what it is called there, and here.
function namesOf(clause) {
  const [, first] = clause.match(/^([\w$]+)/) || [];
  const [, list = ""] = clause.match(/\{([^}]*)\}/) || [];
  const names = list.split(",").map((name) => name.trim().split(" as ")).filter(([name]) => name);
  return first ? [["default", first], ...names] : names;
}

function declare(clause, specifier, options) {
  const [, all] = clause.match(/\*\s*as\s+([\w$]+)/) || [];
  const names = namesOf(clause);
  const wanted = JSON.stringify(names.map(([name]) => name));
  const module = `await $import(${JSON.stringify(specifier)}, ${options}, ${wanted})`;
  const pattern = `{ ${names.map((pair) => pair.join(": ")).join(", ")} }`;
  if (all)
    return `const ${all} = ${module}, ${pattern} = ${all};`;
  return names.length ? `const ${pattern} = ${module};` : `${module};`;
}

// Behind one of these a slash divides; behind a word such as return it does not.
function isValue(word) {
  return /[\w$)\]}"'`]$/.test(word) &&
    !/^(?:await|case|default|delete|do|else|in|new|of|return|throw|typeof|void|yield)$/.test(word);
}

// Where the word stands in the program itself: not in comments, strings, regular
// expressions and the text of templates.
function findWord(source, name) {
  const pieces = [
    /\/\/[^\n]*/, /\/\*[\s\S]*?\*\//, /"(?:\\.|[^"\\\n])*"/, /'(?:\\.|[^'\\\n])*'/,
    /[\w$.]+/, /[\s\S]/,
  ];
  const token = new RegExp(pieces.map((piece) => piece.source).join("|"), "g");
  const expression = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//y;
  const template = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*(`|\$\{)?/y;
  const places = [];
  const braces = []; // that are open: whether they are a template's
  const skip = (what, from) => {
    what.lastIndex = from;
    const found = what.exec(source);
    token.lastIndex = found ? what.lastIndex : token.lastIndex;
    return found;
  };
  let before = "";
  for (let match; (match = token.exec(source));) {
    const [word] = match;
    if (word.split(".")[0] === name)
      places.push(match.index);
    else if (word === "{")
      braces.push(false);
    else if (word === "`" || (word === "}" && braces.pop()))
      skip(template, token.lastIndex)[1] === "${" && braces.push(true);
    else if (word === "/" && !isValue(before))
      skip(expression, match.index);
    if (!/^(?:\s|\/[/*])/.test(word))
      before = word;
  }
  return places;
}

function linesOf(text) {
  return "\n".repeat(text.split("\n").length - 1);
}

// What takes the place of one: its end, and the text.
function replaceImport(source, at) {
  const comment = /\/\/[^\n]*|\/\*[^]*?\*\//;
  const clause = `[\\w$*{](?:${comment.source}|\\/(?![/*])|[^"'\`;()/])*?`;
  const names = `(?:(${clause})\\s*from\\s*)?`;
  const from = /(["'])([^"'\n]+)\2(?:\s*with\s*(\{[^}]*\}))?[ \t]*;?/;
  const statement = new RegExp(`import\\s*${names}${from.source}`, "y");
  // Else it is a name: of a property, or of a method.
  const call = /import(?:\.meta|\s*\((?!\s*[\w$,\s]*\)\s*\{))/y;
  statement.lastIndex = call.lastIndex = at;
  const found = statement.exec(source);
  if (!found)
    return [at + "import".length, call.test(source) ? "$import" : "import"];
  const options = found[4] ? `{ with: ${found[4]} }` : "undefined";
  const words = (found[1] || "").replace(new RegExp(comment, "g"), " ").replace(/\s+/g, " ");
  return [statement.lastIndex, declare(words, found[3], options) + linesOf(found[0])];
}

// Nobody imports a snippet: what is left is the declaration, or the value.
const EXPORTS = [
  [/export\s*(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\})\s*from\b/y, "import"],
  [/export\s*\{[^}]*\}[ \t]*;?/y, ""],
  [/export\s+(?=(?:const|let|var|class|function|async\s+function)\b)/y, ""],
  [/export\s+default\s+(?=class\s+(?!extends\b)[\w$]|(?:async\s+)?function\b\s*\*?\s*[\w$])/y, ""],
  [/export\s+default\b/y, "0,"],
];

function replaceExport(source, at) {
  for (const [statement, text] of EXPORTS) {
    statement.lastIndex = at;
    const found = statement.exec(source);
    if (found)
      return [statement.lastIndex, text + linesOf(found[0])];
  }
  return [at, ""];
}

function replaceEach(word, replace, source) {
  let result = "", end = 0;
  for (const at of findWord(source, word)) {
    if (at < end)
      continue;
    const [next, text] = replace(source, at);
    result += source.slice(end, at) + text;
    end = next;
  }
  return result + source.slice(end);
}

// A script cannot import, but it can call a function that does.
function rewriteModule(source) {
  return replaceEach("import", replaceImport, replaceEach("export", replaceExport, source));
}

// What Node calls an experiment, without the word about that.
function quietly(experiment) {
  const warn = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return experiment();
  } finally {
    process.emitWarning = warn;
  }
}

// JavaScript on the same lines.  Types go, and are not checked.
function stripTypes(source, name) {
  if (!stripTypeScriptTypes)
    throw new Error(
      `sessions in TypeScript want Node 22.13 or newer, and this is ${process.version}`);
  return quietly(() => stripTypeScriptTypes(source, { sourceUrl: name }));
}

// As it is in the main module.
function makeMeta(main) {
  const { resolve } = createRequire(main);
  const url = pathToFileURL(main).href;
  const find = (name) => {
    const place = resolve(name);
    return path.isAbsolute(place) ? pathToFileURL(place).href : `node:${place}`;
  };
  return {
    url, filename: main, dirname: path.dirname(main), main: true,
    resolve: (name) => /^(?:\.{0,2}\/|\w+:)/.test(name) ? new URL(name, url).href : find(name),
  };
}

// As the word does; and with the names that the module must have.
function makeImport(main) {
  const loader = vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const load = loader
    ? vm.runInThisContext("(name, options) => import(name, options)",
        { filename: main, importModuleDynamically: loader })
    : (name, options) => import(name, options);
  // Once, so that it has been said that this is an experiment.
  const warn = process.emitWarning;
  process.emitWarning = () => {};
  load("fs").finally(() => { process.emitWarning = warn; });
  const check = async (name, options, wanted = []) => {
    const module = await load(name, options);
    const missing = wanted.find((one) => !(one in module));
    if (missing)
      throw new SyntaxError(
        `The requested module '${name}' does not provide an export named '${missing}'`);
    return module;
  };
  check.meta = makeMeta(main);
  return check;
}

function define(names) {
  for (const name of Object.keys(names))
    Object.defineProperty(globalThis, name,
      { value: names[name], writable: true, configurable: true, enumerable: false });
}

// What a program finds besides the globals.  The empty file that Node has run is
// the main module, if it was one of CommonJS.
function defineModule(main) {
  const module = process.mainModule || new Module(main);
  const require = createRequire(main);
  require.main = module;
  define({
    require, module, exports: module.exports,
    __filename: main, __dirname: path.dirname(main),
  });
}

// Stacks go without the frames that are ours, and those of Node among and below
// them, also where the program itself looks at one.  A function of its own is for
// the program to set, and to take back.
const OURS = /^(?:node:inspector$|\/run\/sandbox-runner\/)/;
function hideFrames() {
  const join = (error, frames) =>
    [Error.prototype.toString.call(error), ...frames].join("\n    at ");
  const prepare = Error.prepareStackTrace || join; // Node has one since version 20
  const hide = (error, frames) => {
    let below = false;
    return prepare(error, frames.filter((frame) => {
      const file = frame.getScriptNameOrSourceURL();
      below = OURS.test(file) || (below && (!file || file.startsWith("node:")));
      return !below;
    }));
  };
  let theirs;
  Object.defineProperty(Error, "prepareStackTrace", {
    configurable: true, enumerable: true,
    get: () => typeof theirs === "function" ? theirs : hide,
    set: (value) => { theirs = value; },
  });
}

// A mistake that is found before anything is run has no frames at all.
function tellPlace(text, { lineNumber, columnNumber }, file) {
  const hint = text.endsWith("has already been declared")
    ? " (if by an earlier call: only the same keyword can declare it again)" : "";
  return `${text}${hint}\n    at ${file}:${lineNumber + 1}:${columnNumber + 1}`;
}

function printError(error, details, file) {
  const text = inspect(error);
  const bare = details && types.isNativeError(error) && error.name === "SyntaxError" &&
    !text.includes(file);
  write(2, `Uncaught ${bare ? tellPlace(`${error}`, details, file) : text}\n`);
}

module.exports = function (nonce, file, takeExtras, identify) {
  const main = path.resolve(file);
  const typed = path.extname(file) === ".ts";
  const session = new inspector.Session();
  // How many interrupts, and during which snippet: 0 if none is to be answered.
  const heard = new Int32Array(new SharedArrayBuffer(8));
  const streams = watchStreams();
  // A program may close its own, or put a file in the place.
  const pipes = () => [1, 2].map((stream) => identify(fs, stream)).join();
  const ownPipes = pipes();
  let taken, taker, stop, stdin, stdinNumber, running, number = 0;

  const say = (word, ...streams) =>
    streams.forEach((stream) => write(stream, `\x1e${nonce} ${word}\n`));
  const post = (method, params) => new Promise((resolve, reject) =>
    session.post(method, params, (error, result) => error ? reject(error) : resolve(result)));

  // What the inspector has, as the thing itself.
  async function thing(remote) {
    if ("unserializableValue" in remote)
      return { [inspect.custom]: () => remote.unserializableValue };
    if (!("objectId" in remote))
      return remote.value;
    await post("Runtime.callFunctionOn", {
      objectId: remote.objectId, arguments: [taker],
      functionDeclaration: "function (take) { 'use strict'; take(this); }",
    });
    return taken;
  }

  function tellValue(value) {
    if (value === undefined)
      return;
    if (typeof value === "string" && SVG.test(value)) {
      fs.mkdirSync(FIGURES, { recursive: true });
      fs.writeFileSync(`${FIGURES}/figure-01.svg`, value);
      return;
    }
    let text = inspect(value);
    if (text.length > VALUE_MAX)
      text = `${text.slice(0, VALUE_MAX)}... (${text.length - VALUE_MAX} more characters)`;
    const bytes = Buffer.from(text);
    for (let start = 0; start < bytes.length; start += 2250)
      say(`value ${bytes.toString("base64", start, start + 2250)}`, 1);
  }

  // How a value is shown can be the program's own affair, and fail.
  async function report({ result, exceptionDetails }, name) {
    try {
      if (exceptionDetails)
        printError(await thing(exceptionDetails.exception || result), exceptionDetails, name);
      else
        tellValue(await thing(result));
      return exceptionDetails ? 1 : 0;
    } catch (error) {
      printError(error);
      return 1;
    }
  }

  async function execute(source, name) {
    try {
      source = typed ? stripTypes(source, name) : source;
    } catch (error) {
      // Where it is, and what; the frames are all ours.
      write(2, error.stack.replace(/\n +at [^]*$/, "\n"));
      return 1;
    }
    try {
      const answer = await post("Runtime.evaluate", {
        expression: `${rewriteModule(source)}\n//# sourceURL=${name}`,
        objectGroup: name, replMode: true, awaitPromise: true,
      });
      // It was stopped, and has ended all the same: nobody waits for it.
      return running === name ? await report(answer, name) : 130;
    } catch (error) {
      if (running === name)
        tellInterrupted();
      return 130;
    } finally {
      taken = undefined;
      session.post("Runtime.releaseObjectGroup", { objectGroup: name });
    }
  }

  function tellInterrupted() {
    if (running)
      write(2, "Interrupted\n");
    running = undefined;
  }

  // Once for each snippet, whoever comes first.
  async function finish(snippet, status) {
    if (Atomics.load(heard, 1) !== snippet)
      return;
    stop = running = undefined;
    await Promise.all([...streams].map(drain));
    if (Atomics.load(heard, 1) !== snippet)
      return;
    // Nobody could be told, or asked for more: this is the end of the session.
    if (pipes() !== ownPipes)
      process.reallyExit(1);
    say(`done ${status}`, 1, 2);
    // At last: what hits us before this comes to terminated(), which says it again.
    Atomics.store(heard, 1, 0);
  }

  async function answer(prepare) {
    stdinNumber = prepare() || 0;
    const source = fs.readFileSync(main, "utf8");
    const name = running = `snippet-${++number}${path.extname(file)}`;
    const stopped = new Promise((resolve) => { stop = resolve; });
    const snippet = number;
    stdin = undefined;
    fs.rmSync(FIGURES, { recursive: true, force: true });
    Atomics.store(heard, 1, snippet);
    say("started", 1);
    await finish(snippet, await Promise.race([execute(source, name), stopped]));
  }

  function interrupt() {
    Atomics.add(heard, 0, 1);
    Atomics.notify(heard, 0);
    if (stop) {
      tellInterrupted();
      stop(130);
    }
  }

  // It may have been us, on the way to the answer.
  function terminated(snippet) {
    if (snippet === 0 || Atomics.load(heard, 1) !== snippet)
      return;
    tellInterrupted();
    finish(snippet, 130);
  }

  // A call that is left without an answer would wait for all of its time.
  function run(prepare) {
    answer(prepare).catch((error) => {
      printError(error);
      process.reallyExit(1);
    });
  }

  session.connect();
  hideFrames();
  define({ $import: makeImport(main), $take: (value) => { taken = value; } });
  session.post("Runtime.evaluate", { expression: "$take" }, (error, { result }) => {
    taker = { objectId: result.objectId };
  });
  delete globalThis.$take;
  Object.defineProperty(process, "stdin", {
    configurable: true, enumerable: true,
    get: () => stdin = stdin || new fs.ReadStream(null, { fd: stdinNumber, autoClose: false }),
  });
  for (const event of ["uncaughtException", "unhandledRejection"])
    process.on(event, (error) => printError(error));
  const worker = new Worker(listen, { eval: true, workerData: heard.buffer });
  worker.on("message", (line) => {
    const [word, snippet] = line.split(" ");
    if (word === "interrupt")
      interrupt();
    else if (word === "terminated")
      terminated(Number(snippet));
    else
      run(() => takeExtras(fs));
  });
  const first = fs.readFileSync(file);
  // Node is about to run the file: it finds nothing in it.
  fs.writeFileSync(file, "");
  setImmediate(run, () => {
    fs.writeFileSync(file, first);
    defineModule(main);
  });
};
