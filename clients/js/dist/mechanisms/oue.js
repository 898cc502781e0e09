import{mechanismReader as e}from"./base.js";import{SHAPE as o,SIZES as r,unary as p}from"./unary.js";export const read=e("oue",r,o,({size:e,keep:o,flip:r})=>p(e,o,r));
