/** Numbered messages, the rule that evaluates them, and their outcomes: every message calls one of two actuators. */
import { setTimeout } from 'node:timers/promises'
import { definePlug, type Plug } from '../../../src/plug.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'

/** ms of the sensor */
const LATENCY = 1
const LIMIT = 25

export const MESSAGES = 10_000

export type NumberedMessage = Readonly<Record<'n' | 'temperature', number>>

export function messageOf(n: number): NumberedMessage {
  return { n, temperature: (n * 7) % 50 }
}

export const RULE: Rule = {
  sensors: [{ label: 'warm', name: 'slowSensor', resource: '$' }],
  actuators: ['Above', 'NotAbove'].map((state) => ({ label: state, name: 'note', properties: { state } })),
  triggers: ['Above', 'NotAbove'].map((state) => {
    return { sourceLabel: 'warm', destinationLabel: state, statesTrigger: [state] }
  }),
}

type State = 'Above' | 'NotAbove'

async function compared(temperature: number): Promise<State> {
  await setTimeout(LATENCY)
  return stateOf(temperature)
}

function stateOf(temperature: number): State {
  return temperature > LIMIT ? 'Above' : 'NotAbove'
}

/** Sequential calls per second of the sensor without an engine. */
export async function rateAlone(calls: number): Promise<number> {
  const start = performance.now()
  for (let n = 0; n < calls; n++) await compared(messageOf(n).temperature)
  return (calls * 1_000) / (performance.now() - start)
}

export class Evaluations {
  readonly plugs: readonly Plug[]
  /** evaluated messages, each counted once */
  done = 0
  readonly #count: number
  readonly #seen: Uint8Array
  readonly #latest: Int32Array
  readonly #mistakes = { twice: 0, 'with another state': 0, 'after a later one': 0 }

  /** Numbers are below `count`. Posts go in `lanes`: number n in lane n % lanes, each awaits its answer. */
  constructor({ count, lanes, isAhead }: { count: number; lanes: number; isAhead: boolean }) {
    this.#count = count
    this.#seen = new Uint8Array(count)
    this.#latest = new Int32Array(lanes).fill(-1)
    const sensor = definePlug({
      name: 'slowSensor',
      version: '1.0.0',
      kind: 'sensor',
      states: ['NotAbove', 'Above'],
      ...(isAhead && { reads: 'message' }),
      execute: (context) => compared(Number(context.streamValue('temperature'))),
    })
    const note = definePlug({
      name: 'note',
      version: '1.0.0',
      kind: 'actuator',
      input: { state: { type: 'string', mandatory: true } },
      execute: (context) => this.#note(Number(context.streamValue('n')), context.properties.state),
    })
    this.plugs = [sensor, note]
  }

  /** Throws unless every message was evaluated once, correctly, and in order; `posted`: their number. */
  expectAll(posted: number): void {
    const mistakes = Object.entries(this.#mistakes).filter(([, count]) => count > 0)
    if (this.done === this.#count && mistakes.length === 0) return
    const texts = mistakes.map(([what, count]) => `, ${count} evaluated ${what}`)
    throw new Error(`${posted - this.done} of ${posted} messages are lost${texts.join('')}`)
  }

  #note(n: number, state: string): void {
    const lane = n % this.#latest.length
    if (this.#seen[n] === 1) this.#mistakes.twice++
    else this.done++
    if (state !== stateOf(messageOf(n).temperature)) this.#mistakes['with another state']++
    if (n < (this.#latest[lane] ?? -1)) this.#mistakes['after a later one']++
    this.#seen[n] = 1
    this.#latest[lane] = n
  }
}
