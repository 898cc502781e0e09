import { concatenate, littleEndian, utf8 } from "../bytes.js";
import { CodecError, MismatchError, MissingExtraError } from "../errors.js";
import { MAX_HOPS, needBytes, needWhole } from "./seal.js";
import { own, subtle } from "./web_crypto.js";
const SIGNATURE_BYTES = 64;
export function statementBytes({ digest, round, hop, publicKey }) {
    needBytes("digest", digest, 32);
    needWhole("round", round, 0, 0xffff);
    needWhole("hop", hop, 0, MAX_HOPS);
    needBytes("publicKey", publicKey, 32);
    const place = [littleEndian(round, 2), Uint8Array.of(hop)];
    return concatenate(utf8("sottovoce/key/v1"), digest, ...place, publicKey);
}
export async function verifyStatement(statement, signature, verifyingKey) {
    const data = own(statementBytes(statement));
    needBytes("verifyingKey", verifyingKey, 32);
    if (signature.length !== SIGNATURE_BYTES)
        throw new CodecError(`the signature of a round key must have ${SIGNATURE_BYTES} bytes`);
    if (await isSigned(data, signature, verifyingKey))
        return;
    throw new MismatchError("a round key is not signed for this task, round and hop by the key in the document");
}
async function isSigned(data, signature, verifyingKey) {
    const crypto = subtle();
    try {
        const key = await crypto.importKey("raw", own(verifyingKey), "Ed25519", false, ["verify"]);
        return await crypto.verify("Ed25519", key, own(signature), data);
    }
    catch (error) {
        if (error.name === "NotSupportedError")
            throw new MissingExtraError("round keys need Ed25519: use a newer browser");
        return false;
    }
}
