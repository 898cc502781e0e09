export declare function newKeyPair(): Promise<CryptoKeyPair>;
export declare function readKeyPair(privateKey: Uint8Array): Promise<CryptoKeyPair>;
export declare function sealWith(ephemeral: CryptoKeyPair, publicKey: Uint8Array, info: Uint8Array, content: Uint8Array): Promise<Uint8Array>;
export declare function open(recipient: CryptoKeyPair, info: Uint8Array, sealed: Uint8Array): Promise<Uint8Array>;
