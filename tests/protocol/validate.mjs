// Holds messages against the official JSON Schema of their revision. One JSON
// object a line comes in: {revision, method, message}; for a response, method
// is that of its request. One array of complaints a line goes out.
//
// The schemas travel inside the conformance suite, as they are in the
// specification's repository; those of tasks inside ext-tasks. No package has
// the schema of 2024-11-05: it is that of 2025-03-26, which only added to it,
// with the additions forbidden.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import * as tasks from "@modelcontextprotocol/ext-tasks/core/v2";

const suite = new URL("node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url);

function readSchemas() {
  const text = readFileSync(suite, "utf8");
  const table = /const \w+=\{"2025-03-26":(\w+),"2025-06-18":(\w+),"2025-11-25":(\w+),\[\w+\]:(\w+)\}/.exec(text);
  if (!table) throw new Error("the conformance suite keeps its schemas elsewhere now");
  const names = table.slice(1);
  const literals = text.slice(text.indexOf(names[0] + "={$schema:"), table.index).replace(/;\s*$/, "");
  const values = new Function(`let ${names};${literals};return [${names}]`)();
  return Object.fromEntries(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"].map((name, i) => [name, values[i]]));
}

function withoutAdditions(schema) {
  const older = structuredClone(schema), { definitions } = older;
  for (const name of ["AudioContent", "JSONRPCBatchRequest", "JSONRPCBatchResponse"]) definitions[name] = false;
  definitions.Tool.properties.annotations = false;
  definitions.ProgressNotification.properties.params.properties.message = false;
  definitions.ServerCapabilities.properties.completions = false;
  return older;
}

function prepare(schema) {
  const options = { strict: false, allErrors: true };
  const ajv = schema.$schema.includes("2020-12") ? new Ajv2020(options) : new Ajv(options);
  formats.default ? formats.default(ajv) : formats(ajv);
  ajv.addFormat("byte", true);
  ajv.addSchema({ ...schema, $id: "mcp" });
  const key = "$defs" in schema ? "$defs" : "definitions";
  const definitions = schema[key];
  const byMethod = {}, byCode = {};
  for (const [name, definition] of Object.entries(definitions)) {
    const method = definition.properties?.method?.const;
    if (method) byMethod[method] = name;
    for (const part of definition.properties?.error?.allOf ?? []) {
      const code = part.properties?.code?.const;
      if (code !== undefined) byCode[code] = name;
    }
  }
  const check = (name, value) => {
    if (!(name in definitions)) return [`the schema has no ${name}`];
    const validate = ajv.getSchema(`mcp#/${key}/${name}`);
    return validate(value) ? [] : validate.errors.map(e => `${name}${e.instancePath}: ${e.message}`);
  };
  return { definitions, byMethod, byCode, check };
}

const schemas = readSchemas();
schemas["2024-11-05"] = withoutAdditions(schemas["2025-03-26"]);
const prepared = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, prepare(schema)]));

const taskSchemas = {
  "tasks/get": tasks.GetTaskResultV2Schema,
  "tasks/update": tasks.UpdateTaskResultV2Schema,
  "tasks/cancel": tasks.CancelTaskResultV2Schema,
};
const zodCheck = (schema, value) => {
  const outcome = schema.safeParse(value);
  return outcome.success ? [] : outcome.error.issues.map(i => `task ${i.path.join(".")}: ${i.message}`);
};

function checkResult(schema, method, result) {
  if (result.resultType === "task") return zodCheck(tasks.CreateTaskResultV2Schema, result);
  if (method in taskSchemas) return zodCheck(taskSchemas[method], result);
  const request = schema.byMethod[method];
  if (!request) return [`a result, although the schema has no method ${method}`];
  const name = request.replace(/Request$/, "Result");
  return schema.check(name in schema.definitions ? name : "EmptyResult", result);
}

function judge({ revision, method, message }) {
  const schema = prepared[revision];
  if (!schema) return [`no schema for ${revision}`];
  const first = (...names) => names.find(name => name in schema.definitions);
  if (Array.isArray(message)) return schema.check("JSONRPCBatchResponse", message);
  if (message.method !== undefined) {
    const name = schema.byMethod[message.method];
    return name ? schema.check(name, message) : [`the schema has no ${message.method}`];
  }
  if (message.error !== undefined)
    return schema.check(schema.byCode[message.error.code] ?? first("JSONRPCErrorResponse", "JSONRPCError"), message);
  return [
    ...schema.check(first("JSONRPCResultResponse", "JSONRPCResponse"), message),
    ...checkResult(schema, method, message.result ?? {}),
  ];
}

// With {schema, value}: any value against any schema.
function judgeAny({ schema, value }) {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  const validate = ajv.compile(schema);
  return validate(value) ? [] : validate.errors.map(e => `${e.instancePath}: ${e.message}`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  process.stdout.write(JSON.stringify(asked.schema ? judgeAny(asked) : judge(asked)) + "\n");
}
