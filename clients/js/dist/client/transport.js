import { unhex } from "../bytes.js";
import { MAX_DOCUMENT_BYTES } from "../core/bounds.js";
import { AccessError, CodecError, MismatchError, SottovoceError, StateError, UnavailableError, } from "../errors.js";
import { isDocument, parse } from "../wire/codec.js";
const PRIVATE = {
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
};
const STATES = ["open", "closing", "sealed", "finished"];
const MAX_KEEPALIVE = 60_000;
const MAX_CODE = 200;
export const DEFAULT_TIMEOUT = 30;
export async function fetchTask(address, name) {
    const { text, headers } = await get(taskUrl(address.url, name), address.timeout);
    const etag = headers.get("ETag")?.replace(/^W\//, "").replace(/^"|"$/g, "");
    return { text, etag };
}
export async function fetchRound(address, { name, digest }) {
    const { text } = await get(`${taskUrl(address.url, name)}/round`, address.timeout);
    const content = parse(text);
    const { state = null, round = null } = content;
    if (Object.keys(content).sort().join() !== "digest,round,state")
        throw new CodecError("the collector's answer must have a digest, a state and a round");
    if (typeof state !== "string" || !STATES.includes(state))
        throw new CodecError(`the state of a task must be one of ${STATES.join(", ")}`);
    if (content.digest !== digest)
        throw new MismatchError("the collector asks a round of another task than expected");
    return { state, round };
}
export async function send(posting, timeout) {
    const { message, token } = posting;
    const reports = [base64(unhex(message))];
    const body = JSON.stringify({ reports, ...(token && { tokens: [token] }) });
    try {
        const response = await fetch(uploadUrl(posting), posted(body, timeout));
        if (response.ok)
            return receiptOf(await boundedText(response));
        const isBusy = response.status === 429 || response.status >= 500;
        const reason = isBusy ? "busy" : "unexpected";
        return { reason, unavailable: isBusy, wait: retryAfter(response) };
    }
    catch {
        return { reason: "unreachable", unavailable: true, wait: 0 };
    }
}
function uploadUrl({ url, name, round, fingerprint }) {
    if (fingerprint === undefined)
        return `${taskUrl(url, name)}/reports`;
    return `${taskUrl(url, fingerprint)}/rounds/${round}/messages`;
}
function posted(body, timeout) {
    return {
        ...PRIVATE,
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
        keepalive: body.length < MAX_KEEPALIVE,
        signal: AbortSignal.timeout(1000 * timeout),
    };
}
function receiptOf(text) {
    const failure = { reason: "unexpected", unavailable: false, wait: 0 };
    let answer;
    try {
        answer = JSON.parse(text);
    }
    catch {
        return failure;
    }
    if (!isDocument(answer) || !Array.isArray(answer.refused))
        return failure;
    const [refusal] = answer.refused;
    if (isDocument(refusal)) {
        const code = String(refusal.code).slice(0, MAX_CODE);
        return refusal.retry === false ? { refused: code } : { ...failure, reason: code };
    }
    return answer.accepted === 1 || answer.duplicates === 1 ? "sent" : failure;
}
function retryAfter({ headers }) {
    const text = headers.get("Retry-After") ?? "";
    const isNumber = /^\d{1,9}$/.test(text);
    const seconds = isNumber ? +text : (Date.parse(text) - Date.now()) / 1000;
    return seconds > 0 ? seconds : 0;
}
export async function exchange({ url, timeout }, path, content) {
    const address = `${url}/v1/tasks/${path.map(encodeURIComponent).join("/")}`;
    const request = content && posted(JSON.stringify(content), timeout);
    return parse((await get(address, timeout, request)).text);
}
async function get(url, timeout, request = { ...PRIVATE, signal: AbortSignal.timeout(1000 * timeout) }) {
    try {
        const response = await fetch(url, request);
        const { status, ok, headers } = response;
        const code = ok ? "" : await problemCode(response);
        if (code === "not-ready")
            throw new StateError("the collector is not ready: try again later");
        if (code.startsWith("token-"))
            throw new AccessError(`the collector refuses: ${code}`);
        if (status === 404)
            throw new MismatchError("this collector has no task of this name");
        if (!ok)
            throw new UnavailableError(`the collector answered with status ${status}: try again later`);
        return { text: await boundedText(response), headers };
    }
    catch (error) {
        if (error instanceof SottovoceError)
            throw error;
        throw new UnavailableError("the collector cannot be reached: try again later", {
            cause: error,
        });
    }
}
async function problemCode(response) {
    try {
        return String(parse(await boundedText(response)).code);
    }
    catch {
        return "";
    }
}
async function boundedText({ body }) {
    const decoder = new TextDecoder();
    let text = "";
    let bytes = 0;
    for (const reader = body?.getReader(); reader;) {
        const { done, value } = await reader.read();
        if (done)
            break;
        bytes += value.length;
        text += decoder.decode(value, { stream: true });
        if (bytes <= MAX_DOCUMENT_BYTES)
            continue;
        await reader.cancel();
        throw new CodecError(`an answer of a collector may have at most ${MAX_DOCUMENT_BYTES} bytes`);
    }
    return text + decoder.decode();
}
function taskUrl(url, name) {
    return `${url}/v1/tasks/${encodeURIComponent(name)}`;
}
function base64(bytes) {
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
