import { unhex } from "../bytes.js";
import { isContent, parse } from "../wire/codec.js";
import { MismatchError, UnavailableError } from "../errors.js";
const MANNERS = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };
const KEPT_ALIVE = 60_000;
const SECONDS = 30;
const LATER = { wait: 0, away: false };
export async function fetchTask(url, name) {
    const response = await get(address(url, name), "default");
    const tag = response.headers.get("ETag")?.replace(/^W\//, "").replace(/^"|"$/g, "");
    return { text: await response.text(), tag };
}
export async function fetchRound(url, name) {
    return parse(await (await get(`${address(url, name)}/round`, "no-store")).text());
}
export async function post({ url, name, report, token }) {
    const body = JSON.stringify({ reports: [base64(unhex(report))], ...(token && { tokens: [token] }) });
    try {
        const response = await fetch(`${address(url, name)}/reports`, {
            ...MANNERS,
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body,
            cache: "no-store",
            keepalive: body.length < KEPT_ALIVE,
            signal: AbortSignal.timeout(1000 * SECONDS),
        });
        const away = response.status === 429 || response.status >= 500;
        return response.ok ? verdict(await response.json()) : { wait: retryAfter(response), away };
    }
    catch (error) {
        return { ...LATER, away: !(error instanceof SyntaxError) };
    }
}
function verdict(answer) {
    if (!isContent(answer) || !Array.isArray(answer.refused))
        return LATER;
    const [refused] = answer.refused;
    if (isContent(refused))
        return refused.retry === false ? { refused: String(refused.code).slice(0, 200) } : LATER;
    return answer.accepted === 1 || answer.duplicates === 1 ? "sent" : LATER;
}
function retryAfter({ headers }) {
    const after = headers.get("Retry-After") ?? "";
    const seconds = /^\d{1,9}$/.test(after) ? +after : (Date.parse(after) - Date.now()) / 1000;
    return seconds > 0 ? seconds : 0;
}
async function get(where, cache) {
    let response;
    try {
        response = await fetch(where, { ...MANNERS, cache, signal: AbortSignal.timeout(1000 * SECONDS) });
    }
    catch (error) {
        throw new UnavailableError("the collector cannot be reached: try again later", { cause: error });
    }
    if (response.status === 404)
        throw new MismatchError("this collector has no such task");
    if (!response.ok)
        throw new UnavailableError(`the collector answered with status ${response.status}: try again later`);
    return response;
}
function address(url, name) {
    return `${url}/v1/tasks/${encodeURIComponent(name)}`;
}
function base64(bytes) {
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
