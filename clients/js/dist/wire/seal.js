import { concatenate, littleEndian, utf8 } from "../bytes.js";
import { CodecError, MismatchError, MissingExtraError, need, ParameterError } from "../errors.js";
import { newKeyPair, open, readKeyPair, sealWith } from "./hpke.js";
import { subtle } from "./web_crypto.js";
export const LAYER_BYTES = 48;
export const MAX_HOPS = 8;
const MAX_MESSAGE_BYTES = 1 << 20;
export async function seal(message, keys, context) {
    checkContext(context);
    needBytes("message", message, context.messageBytes);
    need(keys.length === context.hops + 1, `\`keys\` must have ${context.hops + 1} entries`);
    for (const [hop, key] of keys.entries())
        needBytes(`keys[${hop}]`, key, 32);
    let sealed = message;
    for (let hop = context.hops; hop >= 0; hop--)
        sealed = await sealLayer(sealed, keys[hop], layerInfo(context, hop));
    return sealed;
}
export async function openLayer(sealed, privateKey, context, hop) {
    needBytes("privateKey", privateKey, 32);
    const length = sealedBytes(context, hop);
    if (sealed.length !== length)
        throw new CodecError(`a sealed message must have ${length} bytes at this hop`);
    const recipient = await readKeyPair(privateKey);
    try {
        return await open(recipient, layerInfo(context, hop), sealed);
    }
    catch {
        throw new MismatchError("a sealed message does not open: it was sealed for another task, round, hop or key, or it " +
            "was changed on the way");
    }
}
export function sealedBytes(context, hop) {
    checkContext(context);
    needWhole("hop", hop, 0, context.hops);
    return context.messageBytes + LAYER_BYTES * (context.hops + 1 - hop);
}
export function layerInfo({ digest, round }, hop) {
    const place = [littleEndian(round, 2), Uint8Array.of(hop)];
    return concatenate(utf8("sottovoce/seal/v2"), digest, ...place);
}
export function needBytes(name, value, length) {
    need(value instanceof Uint8Array && value.length === length, `\`${name}\` must have exactly ${length} bytes`);
}
export function needWhole(name, value, low, high) {
    need(Number.isInteger(value) && value >= low && value <= high, `\`${name}\` must be a whole number from ${low} to ${high}, not ${value}`);
}
async function sealLayer(content, publicKey, info) {
    const ephemeral = await drawKeyPair();
    try {
        return await sealWith(ephemeral, publicKey, info, content);
    }
    catch {
        throw new ParameterError("each entry of `keys` must be a point of large order");
    }
}
async function drawKeyPair() {
    subtle();
    try {
        return await newKeyPair();
    }
    catch {
        throw new MissingExtraError("sealed messages need X25519: use a newer browser");
    }
}
function checkContext({ digest, round, hops, messageBytes }) {
    needBytes("digest", digest, 32);
    needWhole("round", round, 0, 0xffff);
    needWhole("hops", hops, 0, MAX_HOPS);
    needWhole("messageBytes", messageBytes, 1, MAX_MESSAGE_BYTES);
}
