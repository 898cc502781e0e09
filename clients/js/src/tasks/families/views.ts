// One question for every view: a public coin picks the attributes that a person reports together.

import { MAX_DOCUMENT_MEMBERS } from "../../core/bounds.js";
import type { Reading } from "../../core/registry.js";
import { readMechanism } from "../../core/registry.js";
import { cellCount, view } from "../../encodings/view.js";
import { need } from "../../errors.js";
import type { Json } from "../../wire/codec.js";
import type { Whole } from "../../wire/fields.js";
import { list, readFields, whole } from "../../wire/fields.js";
import { Question } from "../question.js";
import type { Family } from "./base.js";

export function read(document: Json, reading: Reading): Family {
  const shape = {
    sizes: list(whole),
    columns: list(list(whole)),
    mechanisms: list((content) => readMechanism(content, reading)),
  };
  const { sizes, columns, mechanisms } = readFields(document, "views", shape);
  const isKnown = (column: Whole): boolean => column >= 0 && column < sizes.length;
  need(
    columns.length && columns.length <= MAX_DOCUMENT_MEMBERS,
    `\`columns\` must have from 1 to ${MAX_DOCUMENT_MEMBERS} entries`,
  );
  reading.countMembers(columns.length);
  need(columns.flat().every(isKnown), "`columns` must be from 0 to the number of `sizes` - 1");
  const different = new Set(columns.map(String)).size;
  need(different === columns.length, "`columns` must not list a view twice");
  const bySize = new Map(mechanisms.map((mechanism) => [String(mechanism.size), mechanism]));
  // Equal mechanisms may be one object, so that the check below would not see them.
  need(bySize.size === mechanisms.length, "`mechanisms` must not serve a size twice");
  const members = columns.map((own) => {
    const ownSizes = own.map((column) => sizes[Number(column)]!);
    const encoding = view({ columns: own, sizes: ownSizes });
    const mechanism = bySize.get(String(cellCount(ownSizes)));
    need(mechanism, "`mechanisms` must have one entry for every number of cells");
    return new Question(mechanism, encoding);
  });
  const representatives = mechanisms.flatMap(
    (mechanism) => members.find((member) => member.mechanism === mechanism) ?? [],
  );
  need(
    representatives.length === mechanisms.length,
    "`mechanisms` must have no entry that serves no view",
  );
  return { length: members.length, at: (index) => members[index]!, representatives };
}
