import{readRealRange as r}from"./real_range.js";export function read(n){return r(n,"numbers","points",(r,n)=>function(r){const n=Math.floor(r),o=r-n;return o>.5||.5===o&&n%2?n+1:n}(r*(n-1)))}
