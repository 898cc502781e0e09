// Shortens the built files: `node scripts/minify.js dist`.  Names of local variables, white space
// and comments go; names of classes stay, because errors are told by them.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { minify } from "terser";

const OPTIONS = { module: true, ecma: 2022, keep_classnames: true, compress: { passes: 3 } };

const [folder] = process.argv.slice(2);
for (const name of readdirSync(folder, { recursive: true })) {
  if (!name.endsWith(".js")) continue;
  const path = join(folder, name);
  const { code } = await minify(readFileSync(path, "utf8"), OPTIONS);
  writeFileSync(path, `${code}\n`);
}
