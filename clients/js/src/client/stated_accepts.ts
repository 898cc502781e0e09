// The check of what an application states, apart from what is refused by it: an application that
// states nothing does not load it.

import { need } from "../errors.js";
import type { Document } from "../wire/codec.js";
import { canonical, isDocument } from "../wire/codec.js";
import type { Accepts } from "./accepts.js";

const FIELDS = ["domain", "epsilon", "public", "plans", "digest", "central"];

/** Returns what an application states, or refuses a setting of it. */
export function checkAccepts(accepts: Accepts): Accepts {
  const { domain, epsilon, public: columns = [], plans = [], digest: pinned, central } = accepts;
  need(
    Object.keys(accepts).every((field) => FIELDS.includes(field)),
    `the fields of \`accepts\` must be ${FIELDS.join(", ")}`,
  );
  need(domain === undefined || isWritten(domain), "`domain` must be the document of a domain");
  for (const [name, limit] of Object.entries({ epsilon, central }))
    need(
      limit === undefined || (limit > 0 && limit <= 20),
      `\`${name}\` must be a number above 0 and at most 20`,
    );
  need(isListOfText(columns), "`public` must be a list of names of columns");
  need(isListOfText(plans), "`plans` must be a list of kinds of plans");
  need(pinned === undefined || typeof pinned === "string", "`digest` must be text");
  return accepts;
}

function isWritten(domain: Document): boolean {
  try {
    return isDocument(domain) && canonical(domain) !== "";
  } catch {
    return false;
  }
}

function isListOfText(values: readonly unknown[]): boolean {
  return Array.isArray(values) && values.every((value) => typeof value === "string");
}
