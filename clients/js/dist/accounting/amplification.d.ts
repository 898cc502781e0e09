export interface Blanket {
    readonly epsilonLocal: number;
    readonly share: number;
    readonly overlap: number;
    readonly drawable: boolean;
}
export interface ShuffledBatch {
    readonly users: number;
    readonly fakes: number;
}
export declare function genericBlanket(epsilonLocal: number): Blanket;
export declare function massOf(blanket: Blanket): number;
export declare function batchOf(blanket: Blanket, users: number, fakes: number): ShuffledBatch;
export declare function delta(blanket: Blanket, batch: ShuffledBatch, epsilon: number): number;
export declare function epsilon(blanket: Blanket, batch: ShuffledBatch, delta: number): number;
