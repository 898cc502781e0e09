export interface KeyStatement {
    readonly digest: Uint8Array;
    readonly round: number;
    readonly hop: number;
    readonly publicKey: Uint8Array;
}
export declare function statementBytes({ digest, round, hop, publicKey }: KeyStatement): Uint8Array;
export declare function verifyStatement(statement: KeyStatement, signature: Uint8Array, verifyingKey: Uint8Array): Promise<void>;
