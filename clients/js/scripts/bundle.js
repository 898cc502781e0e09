// Joins the built modules that browsers use into one: `node scripts/bundle.js dist` writes
// dist/sottovoce.min.js, and its hash to dist/integrity.json.
//
// Each module becomes a function that returns its exports, and stands after those that it imports.
// Modules that are otherwise loaded on demand are among them, so that one hash pins all code that
// can run.  The script knows the forms of import and export that the sources use, and stops at
// others.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { parse } from "acorn";
import { minify } from "terser";

import { OPTIONS } from "./terser_options.js";

const ENTRY = "browser.js";
const BUNDLE = "sottovoce.min.js";

/** A module as the body of a function: its text, what it returns, and the names it exports. */
class Module {
  #edits = [];
  #returned = [];

  /** `importModule` returns the module at a path, read before; `later` one that may come later. */
  constructor(path, variable, { importModule, later }) {
    this.path = path;
    this.variable = variable;
    this.exported = [];
    this.text = readFileSync(path, "utf8");
    const find = ({ value }) => importModule(resolve(dirname(path), value));
    const program = parse(this.text, { ecmaVersion: 2022, sourceType: "module" });
    for (const statement of program.body) this.#rewrite(statement, find);
    for (const { start, end, source } of nodesOf(program, "ImportExpression")) {
      const name = later(resolve(dirname(path), source.value));
      this.#edits.push({ start, end, text: () => `Promise.resolve(${name()})` });
    }
  }

  /** Returns the declaration of this module. */
  declaration() {
    let { text } = this;
    const fromTheEnd = this.#edits.sort((left, right) => right.start - left.start);
    for (const edit of fromTheEnd)
      text = text.slice(0, edit.start) + edit.text() + text.slice(edit.end);
    const returned = `return {${this.#returned.join()}};`;
    return `const ${this.variable} = (() => {\n${text}\n${returned}\n})();\n`;
  }

  #rewrite(statement, find) {
    if (statement.type === "ImportDeclaration") this.#rewriteImport(statement, find);
    else if (statement.type === "ExportAllDeclaration") this.#rewriteExportAll(statement, find);
    else if (statement.type === "ExportNamedDeclaration") this.#rewriteExport(statement, find);
    else if (statement.type.startsWith("Export")) this.#refuse(statement);
  }

  #rewriteImport(statement, find) {
    const { variable } = find(statement.source);
    const names = statement.specifiers.map(({ type, imported, local }) => {
      if (type === "ImportNamespaceSpecifier") return `...${local.name}`;
      if (type !== "ImportSpecifier") this.#refuse({ type });
      return `${imported.name}: ${local.name}`;
    });
    this.#replace(statement, `const {${names.join()}} = ${variable};`);
  }

  #rewriteExportAll(statement, find) {
    if (statement.exported) this.#refuse(statement);
    const { variable, exported } = find(statement.source);
    this.exported.push(...exported);
    this.#returned.push(`...${variable}`);
    this.#replace(statement, "");
  }

  #rewriteExport(statement, find) {
    const { declaration, specifiers, source } = statement;
    if (declaration) {
      for (const name of declaredNames(declaration)) this.#export(name, name);
      this.#replace({ start: statement.start, end: declaration.start }, "");
      return;
    }
    const prefix = source ? `${find(source).variable}.` : "";
    for (const { local, exported } of specifiers)
      this.#export(exported.name, `${prefix}${local.name}`);
    this.#replace(statement, "");
  }

  #export(name, value) {
    this.exported.push(name);
    this.#returned.push(`${name}: ${value}`);
  }

  #replace({ start, end }, text) {
    this.#edits.push({ start, end, text: () => text });
  }

  #refuse({ type }) {
    throw new Error(`${this.path} has a form of import or export that is not known: ${type}`);
  }
}

function declaredNames(declaration) {
  if (declaration.type !== "VariableDeclaration") return [declaration.id.name];
  if (declaration.kind !== "const") throw new Error("an exported variable must be constant");
  return declaration.declarations.map(({ id }) => id.name);
}

function* nodesOf(part, type) {
  if (part?.type === type) yield part;
  if (part && typeof part === "object")
    for (const child of Object.values(part)) yield* nodesOf(child, type);
}

/** Returns the text of the module that joins an entry point with all that it may load. */
function bundleText(entry) {
  const modules = new Map();
  const opened = new Set();
  const waiting = [];
  const importModule = (path) => {
    if (modules.has(path)) return modules.get(path);
    if (opened.has(path)) throw new Error(`${path} imports itself by way of others`);
    opened.add(path);
    const module = new Module(path, `module${opened.size}`, { importModule, later });
    modules.set(path, module); // those that it imports are in the map already
    return module;
  };
  const later = (path) => {
    waiting.push(path);
    return () => modules.get(path).variable;
  };
  const { variable, exported } = importModule(entry);
  while (waiting.length) importModule(waiting.pop());
  const declarations = [...modules.values()].map((module) => module.declaration());
  return `${declarations.join("")}export const {${exported.join()}} = ${variable};\n`;
}

const [folder] = process.argv.slice(2);
const { code } = await minify(bundleText(resolve(folder, ENTRY)), OPTIONS);
const text = `${code}\n`;
const hash = createHash("sha384").update(text).digest("base64");
writeFileSync(join(folder, BUNDLE), text);
const hashes = { [BUNDLE]: `sha384-${hash}` };
writeFileSync(join(folder, "integrity.json"), `${JSON.stringify(hashes, undefined, 2)}\n`);
