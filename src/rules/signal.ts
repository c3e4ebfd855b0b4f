/** Implements signals and conditions: each writes the nodes that it needs. */
import { durationMs } from '#kernel'
import type { Draft, Missing, Origin, Place, Written } from './draft.ts'
import type { Duration } from './plug-types.ts'
import type {
  AnySignal,
  ChoiceSignal,
  Condition,
  Conditions,
  NumberSignal,
  Operand,
  Replaceable,
  Unit,
} from './signal-types.ts'
import { codeOf, valueAt } from './value.ts'

const NOWHERE = { origins: [], nodes: [] } as const

export class Signal implements NumberSignal, ChoiceSignal<unknown> {
  readonly hint: string
  readonly write: (draft: Draft) => Written
  /** of a value of messages */
  readonly #metric: { readonly name: string; readonly origin: Origin } | undefined

  constructor(
    hint: string,
    write: (draft: Draft) => Written,
    metric?: { readonly name: string; readonly origin: Origin },
  ) {
    this.hint = hint
    this.write = write
    this.#metric = metric
  }

  above(limit: Operand, more?: Conditions): Condition {
    return this.#compare('>', 'above', limit, more)
  }
  below(limit: Operand, more?: Conditions): Condition {
    return this.#compare('<', 'below', limit, more)
  }
  atLeast(limit: Operand, more?: Conditions): Condition {
    return this.#compare('>=', 'at_least', limit, more)
  }
  atMost(limit: Operand, more?: Conditions): Condition {
    return this.#compare('<=', 'at_most', limit, more)
  }
  is(value: unknown, more?: Conditions): Condition {
    return this.#compare('==', 'is', value, more)
  }
  isNot(value: unknown, more?: Conditions): Condition {
    return this.#compare('!=', 'is_not', value, more)
  }
  between(low: Operand, high: Operand, more: Conditions = {}): Condition {
    const both = this.#joined(low, high, (value, least, most) => `between(${value}, ${least}, ${most})`)
    return new Comparison(`${this.hint}_between`, both, more)
  }

  plus(other: Operand): Signal {
    return this.#calculated('plus', other, '+')
  }
  minus(other: Operand): Signal {
    return this.#calculated('minus', other, '-')
  }
  times(other: Operand): Signal {
    return this.#calculated('times', other, '*')
  }
  over(other: Operand): Signal {
    return this.#calculated('over', other, '/')
  }
  get abs(): Signal {
    return new Signal(`abs_${this.hint}`, (draft) => {
      const own = this.write(draft)
      return { ...own, code: `Math.abs(${own.code})` }
    })
  }

  get previous(): Signal {
    return this.#measured('previous', {})
  }
  get first(): Signal {
    return this.#measured('first', {})
  }
  change(duration?: Duration): Signal {
    return this.#measured('change', { duration })
  }
  rate(unit: Unit, duration?: Duration): Signal {
    return this.#measured('rate', { unit, duration })
  }
  slope(duration: Duration, unit?: Unit): Signal {
    return this.#measured('slope', { duration, unit })
  }
  increase({ wraps, over }: { readonly wraps?: number; readonly over?: Duration } = {}): Signal {
    return this.#measured('increase', { wraps, duration: over })
  }
  timeWeightedMean(duration: Duration): Signal {
    return this.#measured('timeWeightedMean', { duration })
  }
  integral(unit: Unit, duration?: Duration): Signal {
    return this.#measured('integral', { unit, duration })
  }
  exponentialMean(duration: Duration): Signal {
    return this.#measured('exponentialMean', { duration })
  }
  zScore(duration: Duration): Signal {
    return this.#measured('zScore', { duration })
  }
  deadband(band: number): Signal {
    return this.#measured('deadband', { band })
  }

  mean(over: Over): Signal {
    return this.#windowed('mean', over)
  }
  min(over: Over): Signal {
    return this.#windowed('min', over)
  }
  max(over: Over): Signal {
    return this.#windowed('max', over)
  }
  sum(over: Over): Signal {
    return this.#windowed('sum', over)
  }
  percentile(percent: number, over: Over): Signal {
    return this.#windowed('percentile', over, { percentile: percent })
  }

  silent(duration: Duration): Condition {
    return silence(duration, this.#metric?.origin ?? {}, this.#metric?.name)
  }

  #compare(operator: string, word: string, limit: unknown, more: Conditions = {}): Condition {
    const hint = `${this.hint}_${word}_${hintOf(limit)}`
    const write = this.#joined(limit, undefined, (value, other) => `${value} ${operator} ${other}`)
    const isPlain = typeof limit === 'number' && (operator === '>' || operator === '<')
    return new Comparison(hint, write, more, isPlain ? { of: this.write, operator, limit } : undefined)
  }

  #calculated(word: string, other: Operand, operator: string): Signal {
    const hint = `${this.hint}_${word}_${hintOf(other)}`
    return new Signal(
      hint,
      this.#joined(other, undefined, (a, b) => `(${a} ${operator} ${b})`),
    )
  }

  /** Values of several resources are kept in nodes of their own. */
  #joined(
    first: unknown,
    second: unknown,
    codeFor: (value: string, first: string, second: string) => string,
  ): (draft: Draft) => Written {
    return (draft) => {
      const sides = [this, first, second].map((one) => ({ one, written: writtenOf(one, draft) }))
      const isJoint = originsOf(sides.map(({ written }) => written)) > 1
      // one with several origins reads nodes already
      const all = sides.map(({ one, written }) =>
        isJoint && one instanceof Signal && originsOf([written]) === 1 ? kept(one, draft) : written,
      )
      const [value, other, last] = all.map(({ code }) => code)
      return {
        code: codeFor(value ?? '', other ?? '', last ?? ''),
        ...together(all),
      }
    }
  }

  #measured(accumulator: string, more: Readonly<Record<string, unknown>>): Signal {
    return this.#node(accumulator, 'measure', { accumulator, ...present(more) })
  }

  #windowed(statistic: string, over: Over, more: object = {}): Signal {
    const reach = typeof over === 'string' ? { duration: over } : over
    return this.#node(statistic, 'windowStats', { statistic, ...reach, ...more })
  }

  #node(word: string, name: string, properties: Readonly<Record<string, unknown>>): Signal {
    const hint = `${this.hint}_${word}`
    return new Signal(hint, (draft) => {
      const { code, ...over } = this.write(draft)
      const label = draft.sensor(hint, { name, properties: { value: code, ...properties } }, over)
      return { code: valueAt('nodes', label, 'rawData', 'value').path, origins: over.origins, nodes: [label] }
    })
  }
}

/** A value of messages. */
export class Metric extends Signal implements Replaceable<unknown, Metric> {
  readonly #name: string
  readonly #origin: Origin
  readonly #missing: Missing

  constructor(name: string, origin: Origin, missing: Missing = {}) {
    const { path } = valueAt('streamdata', name)
    const replaced = Object.keys(missing).length > 0 && { missing: [missing] }
    super(name, () => ({ code: path, origins: [origin], nodes: [], ...replaced }), { name, origin })
    this.#name = name
    this.#origin = origin
    this.#missing = missing
  }

  hold(duration: Duration): Metric {
    return new Metric(this.#name, this.#origin, { ...this.#missing, hold: { [this.#name]: duration } })
  }

  default(value: unknown): Metric {
    return new Metric(this.#name, this.#origin, { ...this.#missing, default: { [this.#name]: value } })
  }
}

function hintOf(one: unknown): string {
  if (one instanceof Signal) return one.hint
  return typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean' ? String(one) : ''
}

/** Returns where the values of several expressions come from. */
export function together(all: readonly Written[]): Omit<Written, 'code'> {
  const missing = all.flatMap((one) => one.missing ?? [])
  return {
    origins: all.flatMap(({ origins }) => origins),
    nodes: all.flatMap(({ nodes }) => nodes),
    ...(missing.length > 0 && { missing }),
  }
}

function originsOf(all: readonly Written[]): number {
  return new Set(all.flatMap(({ origins }) => origins.map((origin) => JSON.stringify(origin)))).size
}

type Over = Duration | { readonly samples: number }

function present(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, one]) => one !== undefined))
}

function writtenOf(one: unknown, draft: Draft): Written {
  return one instanceof Signal ? one.write(draft) : { code: one === undefined ? '' : codeOf(one), ...NOWHERE }
}

/** The value as raw data of a node. */
export function kept(signal: AnySignal, draft: Draft): Written {
  const { code, ...over } = signal.write(draft)
  if (over.nodes.length === 1 && /^nodes\.\w+\.rawData\.value$/.test(code)) return { code, ...over }
  const label = draft.sensor(signal.hint, { name: 'measure', properties: { value: code, accumulator: 'last' } }, over)
  return { code: valueAt('nodes', label, 'rawData', 'value').path, origins: over.origins, nodes: [label] }
}

abstract class Decided implements Condition {
  abstract readonly hint: string

  abstract place(draft: Draft): Place

  abstract write(draft: Draft): Written

  get not(): Condition {
    return new Combined('NAND', `not_${this.hint}`, [this])
  }

  times(duration?: Duration): NumberSignal {
    return this.#measured('times', { accumulator: 'edges', ...(duration !== undefined && { duration }) })
  }

  time(unit: Unit, duration?: Duration): NumberSignal {
    return this.#measured('time', { accumulator: 'timeAbove', unit, ...(duration !== undefined && { duration }) })
  }

  debounced(duration: Duration, edge: 'trailing' | 'leading' = 'trailing'): Condition {
    return new Sensed(`${this.hint}_debounced`, 'On', (draft) => {
      const { code, ...over } = this.write(draft)
      return draft.sensor(
        `${this.hint}_debounced`,
        { name: 'debounce', properties: { condition: code, duration, edge } },
        over,
      )
    })
  }

  #measured(word: string, properties: object): NumberSignal {
    const hint = `${this.hint}_${word}`
    return new Signal(hint, (draft) => {
      const { code, ...over } = this.write(draft)
      const value = `${code} ? 1 : 0`
      const label = draft.sensor(hint, { name: 'measure', properties: { value, ...properties } }, over)
      return { code: valueAt('nodes', label, 'rawData', 'value').path, origins: over.origins, nodes: [label] }
    })
  }
}

/** A state of a sensor. */
export class Sensed extends Decided {
  readonly hint: string
  readonly #state: string
  readonly #label: (draft: Draft) => string

  constructor(hint: string, state: string, label: (draft: Draft) => string) {
    super()
    this.hint = hint
    this.#state = state
    this.#label = label
  }

  place(draft: Draft): Place {
    return { label: this.#label(draft), state: this.#state }
  }

  write(draft: Draft): Written {
    return stateCode(this.place(draft))
  }
}

interface Plain {
  readonly of: (draft: Draft) => Written
  readonly operator: string
  readonly limit: number
}

/** An expression that is true or false. */
export class Comparison extends Decided {
  readonly hint: string
  readonly #write: (draft: Draft) => Written
  readonly #more: Conditions
  readonly #plain: Plain | undefined

  constructor(hint: string, write: (draft: Draft) => Written, more: Conditions, plain?: Plain) {
    super()
    this.hint = hint
    this.#write = write
    this.#more = more
    this.#plain = plain
  }

  place(draft: Draft): Place {
    const { until } = this.#more
    if (until === undefined) return this.#begin(draft)
    return this.#between(draft, until) ?? this.#latch(draft, until)
  }

  write(draft: Draft): Written {
    const { for: duration, until } = this.#more
    return duration === undefined && until === undefined ? this.#write(draft) : stateCode(this.place(draft))
  }

  #begin(draft: Draft): Place {
    const { code, ...over } = this.#write(draft)
    const { for: duration, downtime } = this.#more
    if (duration === undefined)
      return {
        label: draft.sensor(this.hint, { name: 'condition', properties: { condition: code } }, over),
        state: 'True',
      }
    const sensor = { name: 'holdsFor', properties: { condition: code, duration }, ...(downtime && { downtime }) }
    return { label: draft.sensor(`${this.hint}_for_${duration}`, sensor, over), state: 'Holds' }
  }

  /** Two limits of one value, without durations, are a hysteresis. */
  #between(draft: Draft, until: Condition): Place | undefined {
    if (!(until instanceof Comparison)) return undefined
    const [enter, leave] = [this.#plain, until.#plain]
    const isTimed = this.#more.for !== undefined || until.#more.for !== undefined || until.#more.until !== undefined
    if (isTimed || !enter || !leave || enter.operator === leave.operator) return undefined
    const { code, ...over } = enter.of(draft)
    const isBand = enter.operator === '>' ? enter.limit > leave.limit : enter.limit < leave.limit
    if (!isBand || leave.of(draft).code !== code) return undefined
    const properties = { value: code, enter: enter.limit, leave: leave.limit }
    return { label: draft.sensor(`${this.hint}_until`, { name: 'hysteresis', properties }, over), state: 'On' }
  }

  /** A state machine, run by what begins and what ends it. */
  #latch(draft: Draft, until: Condition): Place {
    const [begin, end] = [this.#begin(draft), until.place(draft)]
    const properties = {
      states: ['Off', 'On'],
      transitions: [
        { from: 'Off', to: 'On', when: stateCode(begin).code },
        { from: 'On', to: 'Off', when: stateCode(end).code },
      ],
    }
    const { origins } = this.#write(draft)
    const label = draft.sensor(`${this.hint}_until`, { name: 'stateMachine', properties }, { origins, nodes: [] })
    for (const { label: sourceLabel, state } of [begin, end])
      draft.trigger({ sourceLabel, destinationLabel: label, begins: [state] })
    return { label, state: 'On' }
  }
}

/** A gate over other conditions. */
export class Combined extends Decided {
  readonly hint: string
  readonly #type: 'AND' | 'OR' | 'NAND' | 'COUNT'
  readonly #parts: readonly Condition[]
  readonly #limits: object

  constructor(type: 'AND' | 'OR' | 'NAND' | 'COUNT', hint: string, parts: readonly Condition[], limits: object = {}) {
    super()
    this.#type = type
    this.hint = hint
    this.#parts = parts
    this.#limits = limits
  }

  place(draft: Draft): Place {
    const places = this.#parts.map((part) => part.place(draft))
    const [parentLabels, row] = [places.map(({ label }) => label), places.map(({ state }) => state)]
    const relation = { type: this.#type, parentLabels, combinations: [row], ...this.#limits }
    return { label: draft.relation(this.hint, relation), state: 'TRUE' }
  }

  write(draft: Draft): Written {
    return stateCode(this.place(draft))
  }
}

export function stateCode({ label, state }: Place): Written {
  return { code: `${valueAt('nodes', label, 'state').path} == ${codeOf(state)}`, origins: [], nodes: [label] }
}

const MINUTE_MS = 60_000

/** While no message, or no value of this name, came for this time. */
export function silence(duration: Duration, origin: Origin, parameter?: string): Condition {
  const hint = `${parameter ?? 'silent'}_for_${duration}`
  return new Sensed(hint, 'No Data', (draft) => {
    const properties = { duration, ...(parameter !== undefined && { parameter }) }
    // a clock begins the wait of a resource that never sends; members of a group begin it when they join
    const clock = origin.group === undefined && { pollingPeriod: Math.min(MINUTE_MS, durationMs(duration)) }
    return draft.sensor(hint, { name: 'noDataFor', properties, ...clock }, { origins: [origin], nodes: [] })
  })
}
