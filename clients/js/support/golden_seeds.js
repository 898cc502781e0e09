// The checks of golden rows about hash seeds that follow from blind tokens, and of messages that
// carry a token.

import { hex, unhex } from "../dist/bytes.js";
import { joinToken, makePayloads } from "../dist/client/blind_token.js";
import { noticeOf } from "../dist/client/client.js";
import { questionsFor, writeMessage } from "../dist/client/message.js";
import { roundCoin } from "../dist/core/coin.js";
import { load } from "../dist/core/registry.js";
import { CodecError, ParameterError } from "../dist/errors.js";
import { checkRound } from "../dist/tasks/notice.js";
import { asksCoin, readRound } from "../dist/tasks/round.js";
import { parse } from "../dist/wire/codec.js";
import { coinBytesOf, readToken } from "../dist/wire/tokens.js";

/** Returns the checks by section; the helpers are those of the other checks. */
export function seedChecks({ same, refuses, recorded, mechanismOf, indexOf }) {
  async function checkSeededReport(row) {
    const mechanism = await mechanismOf(row.mechanism);
    const rng = recorded(row);
    const index = typeof row.value === "number" ? row.value : indexOf(row.value);
    const draw = BigInt(row.seed_draw);
    const payload = mechanism.instantaneous(mechanism.permanent(index, rng, draw), rng);
    same(hex(payload), row.payload);
    same(rng.consumed, row.consumed);
  }

  async function checkGuardedTask(row) {
    const notice = await noticeOf(row.canonical);
    same(notice.digest, row.digest);
  }

  function checkRefusedTask(row) {
    return refuses(() => noticeOf(row.text), CodecError, ParameterError);
  }

  async function checkTokenMessage(row) {
    const notice = await noticeOf(JSON.stringify(row.task));
    const round = row.round ? await roundOf(row.round) : notice.opening;
    const coin = coinBytesOf(readToken(unhex(row.token)), notice.fingerprint);
    same(asksCoin(round, roundCoin(coin, notice.digest)), true);
    const questions = questionsFor(notice, checkRound(notice, round), coin);
    const index = notice.domain.index(row.value);
    const rng = recorded(row);
    const makePayload = makePayloads(notice, row);
    const envelopes = writeMessage({ notice, round, questions, index, makePayload }, rng);
    same(hex(envelopes), row.envelopes);
    same(hex(joinToken(notice, round, envelopes, row)), row.message);
    same(rng.consumed, row.consumed);
  }

  return {
    "seeds.reports": checkSeededReport,
    "seeds.tasks": checkGuardedTask,
    "seeds.refused": checkRefusedTask,
    "seeds.messages": checkTokenMessage,
  };
}

async function roundOf(content) {
  const document = parse(JSON.stringify(content));
  await load(document);
  return readRound(document);
}
