export type EnvelopeVersion = 1 | 2;
export interface Envelope {
    readonly version?: EnvelopeVersion | undefined;
    readonly digest: Uint8Array;
    readonly round: number;
    readonly member: number;
    readonly id: Uint8Array;
    readonly payload: Uint8Array;
    readonly subject?: Uint8Array | undefined;
    readonly slot?: number | undefined;
    readonly public?: string | undefined;
}
export declare function digestBytesOf(version: EnvelopeVersion): number;
export declare function writeEnvelope(envelope: Envelope): Uint8Array;
