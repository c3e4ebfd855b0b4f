/** Proves properties for all sequences of messages up to a length, by visiting each saved state once. */
import { asyncScheduler } from 'rxjs'
import type { Message, Rule, Template } from '#core'
import { settingsOf, type SavedState } from '#core/spi'
import { AppError, type Json, isPlainObject } from '#kernel'
import { constantsOf } from '../arbitraries/constants.ts'
import type { Metrics } from '../arbitraries/messages.ts'
import { isSignal } from '../arbitraries/signals.ts'
import { caseOptionsOf, isArbitrary, type CheckOptions } from '../check-options.ts'
import { checkCase } from '../check-rule.ts'
import type { Metadata, Moment } from '../checked-run.ts'
import { lengthOf } from '../length-of.ts'
import { lengthText } from '../moment-text.ts'
import { noErrors } from '../properties/implicit.ts'
import { propertiesOf, type RuleProperty } from '../property.ts'
import { withSettings } from '../write-case.ts'
import { gapClasses, inputClasses, valueClasses, type InputClass } from './input-classes.ts'
import { Stepper, type Standing } from './stepper.ts'

export interface ProveOptions extends Pick<
  CheckOptions,
  | 'plugs'
  | 'resource'
  | 'resources'
  | 'metrics'
  | 'byResource'
  | 'settings'
  | 'ports'
  | 'every'
  | 'tail'
  | 'patience'
  | 'writeTo'
> {
  readonly variables?: Readonly<Record<string, unknown>>
  readonly metadata?: Metadata
  /** values to try for a metric, instead of one for each interval between the rule's constants */
  readonly values?: Readonly<Record<string, readonly unknown[]>>
  /** gaps between messages to try, in ms, instead of the usual one and those around the rule's durations */
  readonly gaps?: readonly number[]
  /** number of messages in a sequence; default 12 */
  readonly length?: number
  /** maximum number of states; default 100,000 */
  readonly maxStates?: number
  /** maximum real time in ms; default 30 s */
  readonly time?: number
  readonly onProgress?: (done: Proof) => void
}

export interface Proof {
  readonly properties: readonly string[]
  /** the properties hold for all sequences of up to this many messages */
  readonly length: number
  /** all states were visited, so the properties hold for sequences of any length */
  readonly isComplete: boolean
  readonly states: number
  readonly steps: number
  /** the possible inputs of each step */
  readonly inputs: readonly InputClass[]
  readonly took: number
  toString(): string
}

interface Node {
  readonly standing: Standing
  readonly memories: readonly Json[]
  readonly path: readonly Message[]
}

const START = Date.UTC(2025, 2, 3, 6)
const LENGTH = 12
const MAX_STATES = 100_000
const TIME_MS = 30_000

/**
 * Checks properties for every sequence of messages up to a length, with the values and gaps that the rule can
 * distinguish. Skips states that were reached before: times are compared by their age, up to the longest duration in
 * the rule and the properties. Throws a `PropertyError` with the shortest failing sequence; `VALIDATION` for properties
 * of whole runs, and for too many inputs.
 */
export async function proveRule(
  rule: Rule | Template,
  property: RuleProperty | readonly RuleProperty[],
  options: ProveOptions,
): Promise<Proof> {
  const properties = [...propertiesOf(property), noErrors()]
  const unfit = properties.filter(({ monitor }) => monitor === undefined)
  if (unfit.length > 0) {
    const names = unfit.map(({ name }) => `"${name}"`).join(', ')
    throw new AppError('VALIDATION', `${names} cannot be checked at single moments, as a proof requires; use checkRule`)
  }
  return new Proving(rule, properties, options).run()
}

class Proving {
  readonly #rule: Rule | Template
  readonly #properties: readonly RuleProperty[]
  readonly #options: ProveOptions
  readonly #stepper: Stepper
  readonly #inputs: readonly InputClass[]
  readonly #horizon: number
  readonly #tail: number
  readonly #seen = new Set<string>()
  #steps = 0

  constructor(rule: Rule | Template, properties: readonly RuleProperty[], options: ProveOptions) {
    this.#rule = rule
    this.#properties = properties
    this.#options = options
    const caseOptions = caseOptionsOf(options)
    this.#tail = caseOptions.tail
    this.#stepper = new Stepper(rule, caseOptions)
    const metrics = metricsOf(rule, options)
    const names = [...new Set(Object.values(metrics).flatMap((of) => Object.keys(of)))]
    const constants = constantsOf(withSettings(rule, caseOptions), names, { neighbours: false })
    const durations = [...constants.durations, ...properties.flatMap(({ durations: of = [] }) => of)]
    const every = lengthOf(options.every ?? 60_000, 'every')
    const gaps = options.gaps ?? gapClasses(every, { durations })
    this.#horizon = Math.max(every, ...durations, ...gaps)
    this.#inputs = inputClasses(gaps, valuesOf(metrics, constants.values, options.values))
  }

  async run(): Promise<Proof> {
    const { length = LENGTH, maxStates = MAX_STATES, time = TIME_MS, onProgress } = this.#options
    const began = asyncScheduler.now()
    const first = await this.#stepper.start(START)
    const memories = this.#properties.map(({ monitor }) => monitor?.start ?? null)
    const begun = await this.#judge({ standing: first.after, memories, path: [] }, first.moments)
    let frontier = begun === undefined ? [] : [begun]
    const proof = (done: number, isComplete: boolean) => this.#proof(done, isComplete, asyncScheduler.now() - began)
    for (let done = 0; done < length; done++) {
      const next: Node[] = []
      for (const node of frontier) {
        for (const input of this.#inputs) {
          if (this.#seen.size >= maxStates || asyncScheduler.now() - began >= time) return proof(done, false)
          const reached = await this.#go(node, input)
          if (reached !== undefined) next.push(reached)
        }
      }
      frontier = next
      onProgress?.(proof(done + 1, frontier.length === 0))
      if (frontier.length === 0) return proof(done + 1, true)
    }
    return proof(length, false)
  }

  async #go(node: Node, { gap, resource, values }: InputClass): Promise<Node | undefined> {
    this.#steps++
    const timestamp = node.standing.time + gap
    const message: Message = { resource, timestamp, ...values }
    const { after, moments } = await this.#stepper.step(node.standing, gap, message)
    return this.#judge({ standing: after, memories: node.memories, path: [...node.path, message] }, moments)
  }

  /** Passes moments to the monitors. Returns undefined for a known state. */
  async #judge(node: Node, moments: readonly Moment[]): Promise<Node | undefined> {
    const memories = await this.#watch(node.path, node.memories, moments)
    const { standing, path } = node
    const decisive = this.#properties.map(({ monitor }, i) => monitor?.decides?.(memories[i] ?? null) ?? memories[i])
    const key = stateKey(standing.saved.state, decisive, standing.time, this.#horizon)
    if (this.#seen.has(key)) return undefined
    this.#seen.add(key)
    const rest = await this.#stepper.step(standing, this.#tail, undefined)
    const last = await this.#watch(path, memories, rest.moments)
    for (const [i, { monitor }] of this.#properties.entries()) {
      const wrong = monitor?.end?.(last[i] ?? null, standing.time + this.#tail)
      if (wrong !== undefined) await this.#fail(path)
    }
    return { standing, memories, path }
  }

  async #watch(
    path: readonly Message[],
    before: readonly Json[],
    moments: readonly Moment[],
  ): Promise<readonly Json[]> {
    let memories = before
    for (const moment of moments) {
      const next: Json[] = []
      for (const [i, { monitor }] of this.#properties.entries()) {
        const { memory, wrong } = monitor?.next(memories[i] ?? null, moment) ?? { memory: null }
        if (wrong !== undefined) await this.#fail(path)
        next.push(memory)
      }
      memories = next
    }
    return memories
  }

  /** Runs the whole failing sequence, which must fail too, and reports that failure. */
  async #fail(messages: readonly Message[]): Promise<never> {
    const { values: _values, gaps: _gaps, length: _length, maxStates: _most, time: _time, ...options } = this.#options
    await checkCase({ rule: this.#rule, messages, crashes: [] }, this.#properties, { ...options, columnar: false })
    const sent = JSON.stringify(messages)
    throw new AppError('PROPERTY', `a property fails from a saved state, but not in a run of these messages: ${sent}`)
  }

  #proof(length: number, isComplete: boolean, took: number): Proof {
    const properties = this.#properties.map(({ name }) => name)
    const proof = {
      properties,
      length,
      isComplete,
      states: this.#seen.size,
      steps: this.#steps,
      inputs: this.#inputs,
      took,
    }
    const many = isComplete ? 'sequences of any length' : `all sequences of up to ${length} messages`
    const tried = `${proof.states} states, ${proof.steps} steps of ${this.#inputs.length} inputs, in ${lengthText(took)}`
    const lines = [...properties.map((name) => `holds: ${name}`), `for ${many}: ${tried}`]
    return { ...proof, toString: () => lines.join('\n') }
  }
}

function metricsOf(rule: Rule | Template, { metrics = {}, byResource, resource, resources }: ProveOptions) {
  const ids =
    resources ?? (byResource === undefined ? [resource ?? settingsOf(rule).resource ?? 'r1'] : Object.keys(byResource))
  return Object.fromEntries(ids.map((id) => [id, byResource?.[id] ?? metrics]))
}

function valuesOf(
  metrics: Readonly<Record<string, Metrics>>,
  constants: Readonly<Record<string, readonly unknown[]>>,
  alphabets: Readonly<Record<string, readonly unknown[]>> = {},
): Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> {
  const classesOf = (name: string, generator: Metrics[string]): readonly unknown[] => {
    const alphabet = alphabets[name]
    if (alphabet !== undefined) return alphabet
    if (isArbitrary(generator)) return valueClasses(generator, constants[name] ?? [])
    const kind = isSignal(generator) ? 'a signal' : 'no generator'
    throw new AppError('VALIDATION', `${name} is ${kind}; a proof needs readings(...), or values: { ${name}: [...] }`)
  }
  return Object.fromEntries(
    Object.entries(metrics).map(([id, of]) => [
      id,
      Object.fromEntries(Object.entries(of).map(([name, generator]) => [name, classesOf(name, generator)])),
    ]),
  )
}

/**
 * Fields of a task that do not affect its behavior: counters, its own times, and the lists that explanations refer to.
 */
const OF_TASK: ReadonlySet<string> = new Set([
  'run',
  'inputs',
  'effects',
  'invocations',
  'executions',
  'startTime',
  'lastExecutionTime',
  'finishedTime',
  'skippedTicks',
  'failures',
  'origins',
  'links',
  'arrived',
  'current',
] satisfies (keyof SavedState)[])
/** Fields of a node and of its last result that do not affect behavior, such as the origin. */
const OF_NODE: ReadonlySet<string> = new Set(['since', 'origin', 'via', 'firing', 'held', 'error'])
const OF_FOLLOWING: ReadonlySet<string> = new Set(['invocation', 'origin', 'via'])
/** Numbers from this one on are epoch ms. */
const FIRST_TIME = 1e11

/**
 * Returns the key of a state at `now`. Ages above `horizon` (ms) are equal, because no wait is longer. `memories`: of
 * the monitors.
 */
export function stateKey(saved: Partial<SavedState>, memories: unknown, now: number, horizon: number): string {
  const { sensors, gates, actuators, ...others } = saved
  const nodes = [sensors, gates, actuators].map((of) =>
    Object.entries(of ?? {}).map(([label, node]: [string, object]) => {
      const { follow, ...rest } = node as { follow?: object }
      return [label, without(rest, OF_NODE), follow && without(follow, OF_FOLLOWING)]
    }),
  )
  return JSON.stringify(relative([without(others, OF_TASK), nodes, memories], now, horizon))
}

function without(value: object, keys: ReadonlySet<string>): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)))
}

function relative(value: unknown, now: number, horizon: number): unknown {
  if (typeof value === 'number' && Math.abs(value) >= FIRST_TIME) {
    const ago = now - value
    return ago > horizon ? 'long ago' : `${ago} ago`
  }
  if (Array.isArray(value)) return value.map((item) => relative(item, now, horizon))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, relative(inner, now, horizon)]))
}
