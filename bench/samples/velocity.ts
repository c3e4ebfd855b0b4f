/** One sample: how often a template is rendered, parsed once and warm, by our engine, by velocityjs, and by Apache's own. */
import { isPlainObject } from '../../src/kernel/json.ts'
import { VelocityTemplate } from '../../src/formats/velocity/template.ts'
import { cpuMs } from './spent.ts'
import { judge, judgeSpeed, type Version } from '../../test/formats/velocity/apache/judge.ts'

export const VELOCITY_SUBJECTS = ['reflexarc', 'velocityjs', 'apache-1.7', 'apache-2.4'] as const
export type VelocitySubject = (typeof VELOCITY_SUBJECTS)[number]

export interface VelocityRequest {
  readonly subject: VelocitySubject
  readonly template: string
  readonly measureMs: number
}

export interface VelocitySample {
  readonly renders: number
  /** of the thread that renders */
  readonly cpuMs: number
}

/** Each is printed alike by all of them. */
export const VELOCITY_TEMPLATES: Readonly<Record<string, string>> = {
  message:
    '{"metrics":[{"resource":"$payload.device","temperature":$payload.values.temperature,"humidity":$payload.values.humidity,"mode":"$payload.mode"}]}',
  gateway: `#set($site = $payload.site)
{
  "metrics": [
#foreach($node in $payload.nodes)
    {"resource": "$site/$node.id",#if($node.battery < 20) "low": true,#end "temperature": $node.temperature, "battery": $node.battery}#if($foreach.hasNext),#end

#end
  ]
}`,
  macro: `#macro(metric $name $value)"$name": $value#end
{"metrics": [#foreach($node in $payload.nodes){"resource": "$node.id", #metric("t" $node.temperature), #metric("b" $node.battery)}#if($foreach.hasNext), #end#end]}`,
}

const PAYLOAD = {
  device: 'boiler-1',
  site: 'cellar',
  mode: 'auto',
  values: { temperature: 21.5, humidity: 61 },
  nodes: Array.from({ length: 10 }, (_, i) => ({ id: `node-${i}`, temperature: 20.5 + i, battery: 12 + i * 7 })),
}

type Render = () => string

export async function velocitySample({ subject, template, measureMs }: VelocityRequest): Promise<VelocitySample> {
  const text = VELOCITY_TEMPLATES[template] ?? ''
  const data = { payload: PAYLOAD }
  if (subject.startsWith('apache')) {
    const [perSecond = 0] = judgeSpeed(subject.slice(7) as Version, [{ template: text, data }], measureMs)
    return { renders: (perSecond * measureMs) / 1_000, cpuMs: measureMs }
  }
  const render = subject === 'velocityjs' ? await peer(text) : ours(text)
  check(subject, render, text)
  // as long as Apache's engine has it
  run(render, measureMs)
  return run(render, measureMs)
}

function run(render: Render, ms: number): VelocitySample {
  const begin = cpuMs()
  let renders = 0
  let characters = 0
  while (cpuMs() - begin < ms) {
    for (let i = 0; i < 100; i++) {
      // as whoever uses it: a text in one piece
      const text = render()
      characters += text.charCodeAt(text.length - 1)
    }
    renders += 100
  }
  if (characters < 0) throw new Error('unreachable: keeps the texts from being thrown away')
  return { renders, cpuMs: cpuMs() - begin }
}

function ours(text: string): Render {
  const template = new VelocityTemplate(text, { now: () => performance.now() })
  return () => template.render({ payload: PAYLOAD })
}

interface Peer {
  readonly parse: (text: string) => unknown
  readonly Compile: new (parsed: unknown) => { render(data: unknown): string }
}

async function peer(text: string): Promise<Render> {
  // Through a variable, so that the checkout compiles without the packages of the benches
  const name = 'velocityjs'
  const { parse, Compile } = (await import(name)) as Peer
  const parsed = parse(text)
  return () => new Compile(parsed).render({ payload: PAYLOAD })
}

/** What is compared prints the same, white space aside, and it is JSON. */
function check(subject: string, render: Render, text: string): void {
  const [verdict] = judge('1.7', [{ template: text, data: { payload: PAYLOAD } }])
  const wanted = verdict !== undefined && 'output' in verdict ? verdict.output : ''
  const given = render()
  const same = given === wanted || JSON.stringify(JSON.parse(given)) === JSON.stringify(JSON.parse(wanted))
  if (!same || !isPlainObject(JSON.parse(given))) throw new Error(`velocity: ${subject} prints ${given}, not ${wanted}`)
}
