import assert from "node:assert/strict";
import test from "node:test";

import { exp, isWithin, nearest, PLACES, shortest, stated } from "../dist/maths/exact.js";

test("numbers are written as Python writes them", () => {
  const texts = {
    "1.0": 1,
    0.1: 0.1,
    "1e-05": 1e-5,
    0.0001: 1e-4,
    "1e+16": 1e16,
    "9007199254740992.0": 2 ** 53,
    "0.0": -0,
    "5e-324": 5e-324,
    "1.7976931348623157e+308": Number.MAX_VALUE,
    "-2.5e-07": -2.5e-7,
    0.30000000000000004: 0.1 + 0.2,
    "1234567890123456.0": 1234567890123456,
    "1.2345678901234568e+16": 12345678901234568,
  };
  for (const [text, number] of Object.entries(texts)) assert.equal(shortest(number), text);
});

test("ten tenths are one, and the smallest double counts", () => {
  assert.equal(nearest(10n * stated("0.1")), "1.0");
  assert.equal(stated("0.1") + stated("0.2"), stated("0.3"));
  assert.ok(stated("1.0") + stated("5e-324") > stated("1.0"));
  assert.equal(nearest(0n), "0.0");
});

test("the exponential is right to sixty digits", () => {
  const digits = "2718281828459045235360287471352662497757247093699959574966967627";
  assert.equal(((exp("1.0")[0] * 10n ** 63n) >> PLACES).toString(), digits);
  assert.ok(isWithin([2718281828459045235n, 10n ** 18n], "1.0"));
  assert.ok(!isWithin([2718281828459045236n, 10n ** 18n], "1.0"));
});
