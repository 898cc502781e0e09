import{readRealRange as r}from"./real_range.js";export function read(t){return r(t,"buckets","count",(r,t)=>Math.min(Math.floor(r*t),t-1))}
