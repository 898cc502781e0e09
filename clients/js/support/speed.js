// How long one answer takes on this device, in microseconds: in Node as a job of the worker, in
// browsers by speed.html.  `sottovoce bench --only devices` runs both.

import { SystemRng } from "../dist/core/rng.js";
import { read as readAffine } from "../dist/mechanisms/affine.js";
import { read as readAffinePrefix } from "../dist/mechanisms/affine_prefix.js";
import { read as readGrr } from "../dist/mechanisms/grr.js";
import { read as readOlh } from "../dist/mechanisms/olh.js";
import { read as readSubset } from "../dist/mechanisms/subset.js";
import { parse } from "../dist/wire/codec.js";

const READERS = {
  affine: readAffine,
  affine_prefix: readAffinePrefix,
  grr: readGrr,
  olh: readOlh,
  subset: readSubset,
};
const REPEATS = 9;
const INDEX = 7;

/** Returns for every mechanism the microseconds of one answer: the best of nine runs. */
export function microseconds(cases) {
  return cases.map(({ document, answers }) => {
    const content = parse(document);
    const mechanism = READERS[content.kind](content);
    const run = () => timeOf(mechanism, answers);
    run(); // compiles
    const times = Array.from({ length: REPEATS }, run);
    return (1000 * Math.min(...times)) / answers;
  });
}

function timeOf(mechanism, answers) {
  const rng = new SystemRng();
  const index = mechanism.size > 2 ** 53 ? BigInt(INDEX) : INDEX;
  const reports = new Array(answers); // kept, so that no work can be left out
  const start = performance.now();
  for (let answer = 0; answer < answers; answer++)
    reports[answer] = mechanism.permanent(index, rng);
  const time = performance.now() - start;
  if (reports.some(({ length }) => length !== mechanism.width))
    throw new Error("a report has another length");
  return time;
}
