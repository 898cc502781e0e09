// Texts of bounded length: words, addresses of pages, names that nobody has listed.

import { utf8 } from "../bytes.js";
import type { Json } from "../wire/codec.js";
import type { Domain } from "./base.js";
import { narrow, refuse } from "./base.js";
import { need } from "../errors.js";
import { fields, flag, small } from "../wire/fields.js";
import { long, number } from "./bits.js";

const LONGEST = 60;

export function strings(content: Json): Domain {
  const { length, whole } = fields(content, "strings", { length: small, whole: flag });
  need(length >= 1 && length <= LONGEST, `a text has from 1 to ${LONGEST} bytes`);
  return {
    ...long(8 * length),
    index(value) {
      if (typeof value !== "string" || /[\0\p{Cs}]/u.test(value))
        return refuse("text without zero characters and halves of surrogate pairs");
      const coded = utf8(value.normalize("NFC"));
      if (whole && coded.length > length) refuse(`text of at most ${length} bytes in UTF-8`);
      let end = length;
      while ((coded[end]! & 0xc0) === 0x80) end--; // no character is cut in two
      const filled = new Uint8Array(length);
      filled.set(coded.subarray(0, end));
      return narrow(number(filled));
    },
  };
}
