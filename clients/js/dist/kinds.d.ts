import type { Json } from "./canonical.js";
import type { Domain } from "./domain.js";
import type { Encoding } from "./encoding.js";
import type { Mechanism } from "./mechanism.js";
export declare function load(content: Json, depth?: number): Promise<void>;
export declare const readMechanism: (content: Json) => Mechanism;
export declare const readEncoding: (content: Json) => Encoding;
export declare const readDomain: (content: Json) => Domain;
