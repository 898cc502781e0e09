export declare const HIDDEN_CHARACTERS: RegExp;
