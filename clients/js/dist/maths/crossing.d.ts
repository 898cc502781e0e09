export declare function crossing(falling: (point: number) => number, low: number, high: number, tolerance: number): number;
