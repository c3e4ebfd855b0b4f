/** One sample: conditions over messages in four languages, and statistics over a window, without an engine around. */
import { compileLogic } from '../../src/core/language/logic/json-logic.ts'
import { compileExpression, type Plug } from '../../src/plug.ts'
import { windowStats } from '../../plugins/window-stats/plug.ts'
import { isPlainObject } from '../../src/kernel/json.ts'
import { cpuMs } from './spent.ts'

export const EXPRESSION_SUBJECTS = [
  'closure',
  'expression',
  'logic',
  'json-logic-engine',
  'window-10',
  'window-1000',
  'percentile-10',
  'percentile-1000',
] as const
export type ExpressionSubject = (typeof EXPRESSION_SUBJECTS)[number]

export interface ExpressionsSample {
  events: number
  cpuMs: number
}

type Message = Readonly<Record<string, number | string>>
type Take = (message: Message) => boolean

const CONDITION = 'temperature > 25 && humidity < 60 && state == "on" || pressure * 2 > 2040'
const LOGIC = {
  or: [
    {
      and: [
        { '>': [{ var: 'temperature' }, 25] },
        { '<': [{ var: 'humidity' }, 60] },
        { '==': [{ var: 'state' }, 'on'] },
      ],
    },
    { '>': [{ '*': [{ var: 'pressure' }, 2] }, 2040] },
  ],
}
const MESSAGES: readonly Message[] = Array.from({ length: 1024 }, (_, i) => ({
  temperature: (i * 7) % 50,
  humidity: (i * 13) % 100,
  state: i % 3 === 0 ? 'off' : 'on',
  pressure: 980 + ((i * 11) % 50),
}))
const BATCH = 65_536

export async function expressionsSample(subject: ExpressionSubject, measureMs: number): Promise<ExpressionsSample> {
  const take = await subjectOf(subject)
  if (!subject.includes('-1')) check(take)
  let events = 0
  let yes = 0
  const spend = (budget: number) => {
    const start = cpuMs()
    events = 0
    while (cpuMs() - start < budget) {
      for (let i = 0; i < BATCH; i++) if (take(MESSAGES[i & 1023] ?? {})) yes++
      events += BATCH
    }
    return cpuMs() - start
  }
  spend(400)
  const spent = spend(measureMs)
  if (yes < 0) throw new Error('unreachable: keeps the answers from being thrown away')
  return { events, cpuMs: spent }
}

function byHand(lookup: (name: string) => unknown): boolean {
  return (
    (Number(lookup('temperature')) > 25 && Number(lookup('humidity')) < 60 && lookup('state') === 'on') ||
    Number(lookup('pressure')) * 2 > 2040
  )
}

/** An own value of a message, as the engine looks for it. */
function valueIn(message: Message, name: string): unknown {
  const value = message[name]
  return typeof value !== 'function' && name !== '__proto__' ? value : undefined
}

async function subjectOf(subject: ExpressionSubject): Promise<Take> {
  if (subject === 'closure') return (message) => byHand((name) => valueIn(message, name))
  if (subject === 'expression') {
    const { evaluate } = compileExpression(CONDITION)
    return (message) => Boolean(evaluate(({ segments }) => valueIn(message, segments[0] ?? ''), 0))
  }
  if (subject === 'logic') {
    const { evaluate } = compileLogic(LOGIC)
    return (message) => Boolean(evaluate(({ segments }) => valueIn(message, segments[0] ?? '')))
  }
  if (subject === 'json-logic-engine') return peer()
  const [what = '', samples] = subject.split('-')
  return windowOf(what === 'percentile' ? 'percentile' : 'mean', Number(samples))
}

interface Peer {
  LogicEngine: new () => { build(logic: unknown): (data: unknown) => unknown }
}

async function peer(): Promise<Take> {
  // Through a variable, so that the checkout compiles without the packages of the benches
  const name = 'json-logic-engine'
  const { LogicEngine } = (await import(name)) as Peer
  const compiled = new LogicEngine().build(LOGIC)
  return (message) => Boolean(compiled(message))
}

function windowOf(statistic: string, samples: number): Take {
  const plug: Plug = windowStats
  const properties = { value: 'temperature', samples, statistic, percentile: 95, minimum: 1, upperLimit: 20 }
  const prepared = plug.prepare?.(properties)
  let internalState: unknown
  let message: Message = {}
  let now = 0
  const context = {
    properties,
    prepared,
    streamValue: (name: string) => valueIn(message, name),
    lookup: () => undefined,
    get internalState() {
      return internalState
    },
    get now() {
      return now
    },
  } as unknown as Parameters<Plug['execute']>[0] // all that windowStats asks for
  return (next) => {
    message = next
    now += 1000
    const answer = plug.execute(context)
    if (isPlainObject(answer)) internalState = answer['internalState']
    return isPlainObject(answer) && answer['state'] === 'Above'
  }
}

function check(take: Take): void {
  const wrong = MESSAGES.findIndex((message) => take(message) !== byHand((name) => valueIn(message, name)))
  if (wrong !== -1) throw new Error(`expressions: message ${wrong} has another answer than by hand`)
}
