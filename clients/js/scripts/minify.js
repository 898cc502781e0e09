// Shortens the built files: `node scripts/minify.js dist`.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { minify } from "terser";

import { OPTIONS } from "./terser_options.js";

const [folder] = process.argv.slice(2);
for (const name of readdirSync(folder, { recursive: true })) {
  if (!name.endsWith(".js")) continue;
  const path = join(folder, name);
  const { code } = await minify(readFileSync(path, "utf8"), OPTIONS);
  writeFileSync(path, `${code}\n`);
}
