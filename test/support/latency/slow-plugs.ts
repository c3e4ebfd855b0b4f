/**
 * Provides plugs whose results arrive when the run decides: at once, as settled promises, or after a latency on a
 * virtual clock. Results depend only on the inputs, and failures on the node and the number of the execution, so that
 * runs that differ only in latency must agree.
 */
import { definePlug } from '../../../src/core/plug/define.ts'
import type { InputField, Plug, PlugAnswer, PlugContext, PlugDefinition } from '../../../src/core/plug/plug.ts'
import type { VirtualClock } from '../../../src/core/simulate/virtual-clock.ts'
import { sensorPlug } from '../make-plug.ts'

/**
 * `latencies`: ms of the clock per call. `turns`: turns of the promise queue per call, for actuators only with
 * `ofActuators`. Both lists repeat.
 */
export type Answers =
  | 'at once'
  | 'promised'
  | { readonly clock: Pick<VirtualClock, 'schedule'>; readonly latencies: readonly number[] }
  | { readonly turns: readonly number[]; readonly ofActuators?: boolean }

type Reading = { readonly value: number; readonly other: number }
type Behaviour = (context: PlugContext, reading: Reading) => PlugAnswer

const LEVEL = ['Low', 'High']
const INPUT: Readonly<Record<string, InputField>> = {
  key: { type: 'string' },
  limit: { type: 'double' },
  wait: { type: 'double' },
  /** a value of another node, from a placeholder */
  other: { type: 'any' },
  /** failed attempts of each execution; the list repeats */
  fails: { type: 'array' },
  text: { type: 'string' },
  thing: { type: 'string' },
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0)
const levelOf = (value: number, context: PlugContext): string =>
  value > numberOf(context.properties['limit']) ? 'High' : 'Low'

/** Computes each sensor's result from its context and from values of the message and another node. */
const SENSORS: Readonly<Record<string, Behaviour>> = {
  compare: (context, { value, other }) => ({ state: levelOf(value + other / 10, context), rawData: { v: value } }),
  window: (context, { value }) => {
    const sum = (numberOf(context.internalState) + value) % 1000
    return { state: levelOf(sum % 100, context), internalState: sum, rawData: { v: sum } }
  },
  delay: (context, { value }) => ({
    state: levelOf(value, context),
    rawData: { v: value },
    after: numberOf(context.properties['wait']),
  }),
  hold: (context, { value, other }) => ({
    state: 'Low',
    rawData: { v: value },
    // oxlint-disable-next-line unicorn/no-thenable -- `then` is a field of the contract of plugs
    ...(value + other > 40 && { then: { state: 'High', after: numberOf(context.properties['wait']) } }),
  }),
  look: (context, { value }) => {
    const others = Object.entries(context.rawData).map(([label, data]) => [
      label,
      data['v'] ?? null,
      data['state'] ?? null,
    ])
    return { state: levelOf(JSON.stringify(others).length % 100, context), rawData: { v: value, others } }
  },
  dice: (context) => ({ state: context.random() > 0.5 ? 'High' : 'Low', rawData: { chance: context.random() } }),
  clock: (context) => ({ state: LEVEL[Math.floor(context.now / 100) % 2] ?? '', rawData: { v: context.now % 1000 } }),
}

/** These read their context again when they finish. */
const READ_LATE: ReadonlySet<string> = new Set(['look'])

export class SlowPlugs {
  /** sensor calls as `node time properties ...`, in order; calls that may begin ahead are in `ahead` */
  readonly calls: string[] = []
  /** sensor calls that may begin ahead of their turn */
  readonly ahead = new Set<string>()
  /** maximum number of these open at once */
  mostAhead = 0
  /** attempts to act, by the thing that they touch, in order */
  readonly attempts = new Map<string, string[]>()
  /** descriptions of calls that broke the order of effects */
  readonly broken: string[] = []
  readonly plugs: readonly Plug[]
  readonly #answers: Answers
  /** failed attempts by execution */
  readonly #failed = new Map<string, number>()
  readonly #numbers = new Map<string, number>()
  readonly #counts = new Map<string, number>()
  readonly #seen = new Map<string, string>()
  #openThings = new Set<string>()
  #openAhead = 0
  #life = 0
  #callCount = 0

  constructor(answers: Answers) {
    this.#answers = answers
    const sensors = Object.entries(SENSORS).map(([name, behave]) =>
      this.#sensor(name, (context, fails, id) => {
        const reading = readingOf(context)
        const late = READ_LATE.has(name) ? () => behave(context, readingOf(context)) : undefined
        this.#note(this.calls, context, id, [reading, context.streamData, context.internalState ?? null])
        const early = late === undefined ? behave(context, reading) : undefined
        return this.#give(id, fails, () => late?.() ?? early)
      }),
    )
    this.plugs = [...sensors, this.#aheadPlug(), this.#actor('act'), this.#actor('touch')]
  }

  /** Returns the number of calls that did not finish at once, including repeated ones. */
  get made(): number {
    return this.#callCount
  }

  /** Simulates the death of the process that made the open calls. */
  crash(): void {
    this.#life++
    this.#openThings = new Set()
    this.#openAhead = 0
  }

  #sensor(
    name: string,
    call: (context: PlugContext, fails: number, id: string) => PlugAnswer | Promise<PlugAnswer>,
  ): Plug {
    return sensorPlug(name, LEVEL, {
      input: INPUT,
      openOutput: true,
      execute: (context) => call(context, this.#failsOf(context, context.node.NAME), context.id),
    })
  }

  /** Depends only on the message, even for failures. */
  #aheadPlug(): Plug {
    return sensorPlug('ahead', LEVEL, {
      input: INPUT,
      openOutput: true,
      reads: 'message',
      parameters: ({ key }) => (typeof key === 'string' ? [key] : undefined),
      execute: (context) => {
        const { value } = readingOf(context)
        this.ahead.add(JSON.stringify([context.node.NAME, context.properties, value]))
        this.mostAhead = Math.max(this.mostAhead, ++this.#openAhead)
        return this.#later(() => {
          this.#openAhead--
          if (value % 9 === 4) throw new Error('nobody measures that')
          return { state: levelOf(value, context), rawData: { v: value, text: context.properties['text'] ?? null } }
        })
      },
    })
  }

  /** `act` touches its node, `touch` what its properties name. */
  #actor(name: 'act' | 'touch'): Plug {
    const definition: PlugDefinition = {
      name,
      version: '1.0.0',
      kind: 'actuator',
      input: INPUT,
      openOutput: true,
      ...(name === 'touch' && { touches: ({ thing }) => [String(thing)] }),
      execute: (context) => {
        const { id, node, properties } = context
        const thing = name === 'touch' ? String(properties['thing']) : node.NAME
        const fails = this.#failsOf(context, `${node.NAME} ${thing}`)
        const list = this.attempts.get(thing) ?? []
        this.attempts.set(thing, list)
        this.#note(list, context, id, [])
        if (this.#openThings.has(thing)) this.broken.push(`${id} touches ${thing} while another call does`)
        this.#openThings.add(thing)
        return this.#give(id, fails, () => ({ message: `did ${id}` }), thing)
      },
    }
    return definePlug(definition)
  }

  /** Records a call once, even if a crash repeats it. */
  #note(list: string[], context: PlugContext, id: string, more: readonly unknown[]): void {
    const { node, now, properties } = context
    const attempt = this.#failed.get(id) ?? 0
    const line = JSON.stringify([node.NAME, node.TRIGGER ?? null, now, id, attempt, properties, ...more])
    const key = `${id} ${attempt}`
    const before = this.#seen.get(key)
    if (before === undefined) list.push(line)
    else if (before !== line) this.broken.push(`${line} is made again of ${before}`)
    this.#seen.set(key, line)
  }

  /** Returns how many attempts of an execution fail. `of`: whose executions are counted */
  #failsOf(context: PlugContext, of: string): number {
    const { id } = context
    let number = this.#numbers.get(id)
    if (number === undefined) {
      number = this.#counts.get(of) ?? 0
      this.#counts.set(of, number + 1)
      this.#numbers.set(id, number)
    }
    const fails = context.properties['fails']
    return Array.isArray(fails) && fails.length > 0 ? numberOf(fails[number % fails.length]) : 0
  }

  #give(id: string, fails: number, answer: () => PlugAnswer, thing?: string): PlugAnswer | Promise<PlugAnswer> {
    const attempt = this.#failed.get(id) ?? 0
    const settle = (): PlugAnswer => {
      if (thing !== undefined) this.#openThings.delete(thing)
      if (attempt >= fails) return answer()
      this.#failed.set(id, attempt + 1)
      throw new Error(`attempt ${attempt + 1} fails`)
    }
    return this.#later(settle, thing !== undefined)
  }

  /** Returns or throws the result of `settle` when its time has come. */
  #later(settle: () => PlugAnswer, acts = false): PlugAnswer | Promise<PlugAnswer> {
    const answers = this.#answers
    if (answers === 'at once') return settle()
    if (acts && typeof answers === 'object' && 'turns' in answers && answers.ofActuators !== true) return settle()
    if (answers === 'promised') return new Promise((resolve) => resolve(settle()))
    const count = this.#callCount++
    if ('turns' in answers) return afterTurns(answers.turns[count % answers.turns.length] ?? 0, settle)
    const life = this.#life
    const latency = answers.latencies[count % answers.latencies.length] ?? 0
    return new Promise((resolve, reject) => {
      const land = (): void => {
        if (life !== this.#life) return
        try {
          resolve(settle())
        } catch (error) {
          reject(error)
        }
      }
      answers.clock.schedule(land, latency)
    })
  }
}

async function afterTurns(turns: number, settle: () => PlugAnswer): Promise<PlugAnswer> {
  for (let left = turns; left > 0; left--) await Promise.resolve()
  return settle()
}

function readingOf(context: PlugContext): Reading {
  const key = String(context.properties['key'])
  return { value: numberOf(context.streamValue(key)), other: numberOf(context.properties['other']) }
}
