// How a collector treats a task: part of the document, so that a device sees it before it answers.

import { need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import { flag, readFields, small, text } from "../wire/fields.js";

/** Durations are in seconds, `retention` in days; a `quota` or `seconds` of 0 sets no limit. */
export interface Collection {
  readonly quota: number;
  readonly seconds: number;
  readonly grace: number;
  readonly minimum: number;
  readonly crowd: number;
  readonly retention: number;
  readonly enrolment: boolean;
  readonly sandbox: boolean;
  /** The key behind blind tokens, where reports need them. */
  readonly issuer?: string;
  /** What a forged report cannot choose: "seeds" where tokens fix its hash seeds. */
  readonly defence?: string;
}

const SMALLEST_CROWD = 2; // a crowd of one is a person
const NUMBERS = {
  quota: small,
  seconds: small,
  grace: small,
  minimum: small,
  crowd: small,
  retention: small,
};

export function readCollection(document: Json): Collection {
  const shape = { ...NUMBERS, enrolment: flag, sandbox: flag, issuer: text, defence: text };
  const collection = readFields(document, "collection", shape, ["issuer", "defence"]);
  for (const name of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]) {
    const number = collection[name];
    need(number >= 0 && number < 2 ** 32, `\`${name}\` must be from 0 to 2^32 - 1`);
  }
  const { quota, minimum, crowd, retention } = collection;
  need(minimum >= SMALLEST_CROWD, "`minimum` must be at least 2 users");
  need(!crowd || crowd >= SMALLEST_CROWD, "`crowd` must be 0 or at least 2 users");
  need(!quota || quota >= minimum, "`quota` must be 0 or at least `minimum`");
  need(retention >= 1, "`retention` must be at least 1 day");
  return collection;
}
