export declare function checkUrl(name: string, url: string): string;
