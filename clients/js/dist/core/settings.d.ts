export declare function plainText(name: string, text: string, maxLength: number): void;
export declare function plainTexts(name: string, texts: readonly string[], maxLength: number): void;
