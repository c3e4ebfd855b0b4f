import { gatewayBodyOf, GATEWAY_TEMPLATE, bodyOf } from './samples/broker/bodies.ts'
import { VelocityTemplate } from '../src/velocity/template.ts'
import { parseBody } from '../src/web/parse-body.ts'
const P=Number(process.argv[2]??1000)
const text=gatewayBodyOf(3,P), plain=bodyOf(3,P)
const t=new VelocityTemplate(GATEWAY_TEMPLATE,{now:()=>performance.now(),limits:{ms:250,characters:8<<20}})
const out=t.render({payload:JSON.parse(text)}); console.log(text.length,out.length,plain.length)
const N=P===1000?300:60000
const time=(name,f)=>{let best=1e9;for(let r=0;r<6;r++){const b=process.threadCpuUsage();for(let i=0;i<N;i++)f();const e=process.threadCpuUsage(b);best=Math.min(best,((e.user+e.system)/N))}console.log(name,best.toFixed(1),'us')}
time('parse plain',()=>parseBody(plain)); time('parse body',()=>parseBody(text)); const p=JSON.parse(text)
time('JSON.parse body',()=>JSON.parse(text))
time('render',()=>t.render({payload:p})); time('render+flat',()=>{const s=t.render({payload:p});s.charCodeAt(s.length-1)});time('parse result',()=>parseBody(out)); time('stringify',()=>JSON.stringify(p))
