export declare function probability(count: number, trials: number, chance: number): number;
export declare function atLeast(count: number, trials: number, chance: number): number;
export declare function fewerThan(count: number, trials: number, chance: number): number;
export declare function between(low: number, high: number, trials: number, chance: number): number;
export declare function lowerQuantile(tail: number, trials: number, chance: number): number;
export declare function upperQuantile(tail: number, trials: number, chance: number): number;
export declare function fairExcess(trials: number, distance: number): number;
