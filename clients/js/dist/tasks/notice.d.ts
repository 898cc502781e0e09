import type { Domain } from "../domains/base.js";
import type { CanonicalDocument, Document, Json } from "../wire/codec.js";
import type { EnvelopeVersion } from "../wire/envelope.js";
import type { Collection } from "./collection.js";
import type { Round } from "./round.js";
import type { RoundLimits } from "./round_limits.js";
import type { Shuffle } from "./shuffle.js";
export interface Notice {
    readonly name: string;
    readonly description: string;
    readonly digest: string;
    readonly digestBytes: Uint8Array;
    readonly fingerprint: Uint8Array;
    readonly envelopeVersion: EnvelopeVersion;
    readonly domain: Domain;
    readonly domainDocument: Document;
    readonly epsilon: string;
    readonly declares: readonly string[];
    readonly opening: Round;
    readonly plan: string;
    readonly collection?: Collection;
    readonly distinct?: number;
    readonly rounds?: RoundLimits;
    readonly shuffle?: Shuffle;
}
export declare function readNotice({ document, canonicalText }: CanonicalDocument, shuffle?: (document: Json) => Shuffle): Notice;
export declare function checkRound(notice: Notice, round: Round): Round;
export declare function checkPublic({ domain, declares }: Notice): void;
