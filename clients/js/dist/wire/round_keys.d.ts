export interface KeyStatement {
    readonly digest: Uint8Array;
    readonly round: number;
    readonly hop: number;
    readonly publicKey: Uint8Array;
}
export declare function statementBytes({ digest, round, hop, publicKey }: KeyStatement): Uint8Array;
export declare function verifyStatement(statement: KeyStatement, signature: Uint8Array, verifyingKey: Uint8Array): Promise<void>;
export declare function verifySignature(data: Uint8Array, signature: Uint8Array, verifyingKey: Uint8Array, refusal: string): Promise<void>;
