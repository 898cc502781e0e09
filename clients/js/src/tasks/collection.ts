// How a collector treats a task: part of its document, so a device sees it before it answers.

import type { Json } from "../wire/codec.js";
import { need } from "../errors.js";
import { fields, flag, small } from "../wire/fields.js";

/** Durations in seconds, but `retention` in days; 0 users of a quota or 0 seconds mean no such limit. */
export interface Collection {
  readonly quota: number;
  readonly seconds: number;
  readonly grace: number;
  readonly minimum: number;
  readonly crowd: number;
  readonly retention: number;
  readonly enrolment: boolean;
  readonly sandbox: boolean;
}

const NUMBERS = { quota: small, seconds: small, grace: small, minimum: small, crowd: small, retention: small };

export function readCollection(content: Json): Collection {
  const read = fields(content, "collection", { ...NUMBERS, enrolment: flag, sandbox: flag });
  const { quota, minimum, crowd, retention } = read;
  const numbers = Object.keys(NUMBERS).map((name) => read[name as keyof typeof NUMBERS]);
  need(
    numbers.every((number) => number >= 0 && number < 2 ** 32),
    "the settings of a collection are below 2^32",
  );
  need(minimum >= 2 && crowd !== 1, "a minimum or a crowd is at least 2 users");
  need(!quota || quota >= minimum, "a quota below the minimum would close rounds that may not be released");
  need(retention >= 1, "reports are kept for at least 1 day");
  return read;
}
