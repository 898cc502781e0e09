export function unsignedWidth(t){return t<=256?1:t<=65536?2:4}export function packBits(t,n){const r=new Uint8Array(Math.ceil(t/8));for(let e=0;e<t;e++)r[e>>3]|=+n(e)<<(7&e);return r}
