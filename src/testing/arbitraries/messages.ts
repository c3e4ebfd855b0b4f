/**
 * Generates streams of messages as devices send them: late, repeated, incomplete, from wrong clocks, and across clock
 * changes. Values may persist for a while, and gaps and values may be close to those of a rule.
 */
import fc from 'fast-check'
import { AppError, isoInstant } from '#kernel'
import type { Message } from '#core'
import { lengthOf } from '../length-of.ts'
import { isSignal, type Signal } from './signals.ts'

/**
 * Faults of a stream. `late`: a message arrives after newer ones. `duplicate`: it arrives again. `correction`: it has
 * the time of the one before, and other values. `missing`: a value is absent. `nan`: a value is not a number. `null`: a
 * value is null. `blank`: a value is an empty text. `text`: a number arrives as a text. `skew`: the clock of a resource
 * is wrong. `back`: the clock is set back. `gap`: silence for up to a day. `dst`: the stream spans a clock change, a
 * leap day or the turn of a year
 */
export type Disturbance = (typeof DISTURBANCES)[number]

const TROUBLES = ['late', 'duplicate', 'correction', 'back', 'nan', 'null', 'blank', 'text'] as const
const DISTURBANCES = [...TROUBLES, 'missing', 'skew', 'gap', 'dst'] as const
const USUAL = DISTURBANCES.filter((one) => one !== 'text')

export type Metrics = Readonly<Record<string, fc.Arbitrary<unknown> | Signal>>

export interface StreamOptions {
  /** a generator of values for each metric, such as `readings(60, 120)`, `fc.boolean()` or `walk(0, 100, 5)` */
  readonly metrics: Metrics
  /** senders; each sends all metrics unless `byResource` differs. Default `r1` */
  readonly resources?: readonly string[]
  /** metrics of individual resources, instead of `metrics` */
  readonly byResource?: Readonly<Record<string, Metrics>>
  /** usual time between two messages: ms, ISO 8601, or short as in `5m`; default a minute */
  readonly every?: number | string
  /** default 60 */
  readonly maxLength?: number
  /** epoch ms or ISO 8601; default a random day, with `dst` sometimes a special one */
  readonly start?: number | string
  /**
   * disturbances that some streams contain; default: all but `text`, which custom conditions rarely read as a number
   */
  readonly disturbances?: readonly Disturbance[]
  /** ms that matter to the rule: some gaps are about this long */
  readonly durations?: readonly number[]
  /** counts that matter to the rule: some values persist for about as many messages */
  readonly counts?: readonly number[]
  /** values that matter to the rule, by metric; mixed with generated ones */
  readonly constants?: Readonly<Record<string, readonly unknown[]>>
}

const HOUR = 3_600_000
const USUAL_DAY = isoInstant('2025-03-03T06:00:00Z')
/** Clock changes in Europe and the United States, a leap day, and the turn of a year. */
const SPECIAL_TIMES = [
  '2025-03-30T01:00:00Z',
  '2025-10-26T01:00:00Z',
  '2025-03-09T07:00:00Z',
  '2025-11-02T06:00:00Z',
  '2024-02-29T00:00:00Z',
  '2025-01-01T00:00:00Z',
].map(isoInstant)

/** Generates streams for `simulate`, `checkRule` or properties. They shrink to fewer messages, then to regular ones. */
export function messageStreams(options: StreamOptions): fc.Arbitrary<readonly Message[]> {
  const { resources = ['r1'], disturbances = USUAL, maxLength = 60 } = options
  const every = lengthOf(options.every ?? 60_000, 'every')
  const fixedStart = startOf(options.start)
  const durations = options.durations ?? []
  const bodies = {
    whole: fc.oneof(...resources.map((id) => bodyOf(id, options, false))),
    holed: fc.oneof(...resources.map((id) => bodyOf(id, options, true))),
  }
  return modes(disturbances, every, durations).chain((mode) => {
    const step = fc.record({
      gap: gaps(mode, every, durations),
      body: mode.wild.has('missing') ? bodies.holed : bodies.whole,
      repeat: repeats(mode, options.counts ?? []),
      trouble: troubles(mode.wild),
      lateness: fc.constantFrom(every, 5 * every, HOUR, 26 * HOUR),
      broken: fc.nat(20),
    })
    return fc
      .record({
        start: fixedStart === undefined ? starts(mode.wild.has('dst')) : fc.constant({ at: fixedStart, inside: 0 }),
        skews: mode.wild.has('skew') ? skewsOf(resources, every) : fc.constant([]),
        steps: fc.array(step, { minLength: 0, maxLength, size: 'max' }),
      })
      .map(({ start, skews, steps }) => streamOf(start, skews, steps, { ...options, resources }, maxLength))
  })
}

/** Settings shared by all messages of a stream. */
interface Mode {
  readonly wild: ReadonlySet<Disturbance>
  readonly holds: boolean
  /** usual ms between messages */
  readonly pace: number
}

/**
 * Makes many streams regular and most others combine few kinds of faults, because faults everywhere would hide each
 * other.
 */
function modes(disturbances: readonly Disturbance[], every: number, durations: readonly number[]): fc.Arbitrary<Mode> {
  const some =
    disturbances.length === 0
      ? fc.constant([])
      : fc.subarray([...disturbances], { maxLength: Math.min(2, disturbances.length) })
  const wild = fc.oneof(
    { withCrossShrink: true },
    { weight: 3, arbitrary: fc.constant<Disturbance[]>([]) },
    { weight: 5, arbitrary: some },
    { weight: 2, arbitrary: fc.constant([...disturbances]) },
  )
  const paces = [
    every,
    every,
    ...durations.flatMap((ms) => [ms / 2, ms / 4, ms / 12].map(Math.round).filter((pace) => pace > 0)),
  ]
  return fc.record({
    wild: wild.map((drawn) => new Set(drawn)),
    holds: fc.boolean(),
    pace: fc.oneof(fc.constant(every), fc.constantFrom(...paces)),
  })
}

interface Step {
  readonly gap: number
  readonly body: Body
  readonly repeat: number
  readonly trouble: Trouble | undefined
  readonly lateness: number
  readonly broken: number
}

/** The start of a stream: at `at`, or so that `at` lies inside the stream, at a share of its length. */
interface Start {
  readonly at: number
  readonly inside: number
}

function streamOf(
  start: Start,
  skews: readonly number[],
  steps: readonly Step[],
  options: StreamOptions & { readonly resources: readonly string[] },
  maxLength: number,
): readonly Message[] {
  const all = steps.flatMap((step) => Array.from({ length: 1 + step.repeat }, () => step)).slice(0, maxLength)
  const span = all.reduce((sum, { gap }) => sum + gap, 0)
  let memory: ReadonlyMap<string, unknown> = new Map()
  const taken = new Set<string>()
  let now = Math.round(start.at - span * start.inside)
  let before: Step | undefined
  const lastTimes = new Map<string, number>()
  const setBack = new Map<string, number>()
  const draw = ({ body, trouble, lateness, broken }: Step): Message => {
    const { resource } = body
    if (trouble === 'back') setBack.set(resource, (setBack.get(resource) ?? 0) + lateness)
    const skew = (skews[options.resources.indexOf(resource)] ?? 0) - (setBack.get(resource) ?? 0)
    let corrected = trouble === 'correction' ? lastTimes.get(resource) : undefined
    // Two equal messages with one time would be a duplicate, so the second one is a millisecond later.
    for (; ; now++) {
      const timestamp = corrected ?? Math.round(now + skew - (trouble === 'late' ? lateness : 0))
      const after = new Map(memory)
      const drawn = valuesOf(body, options, now, after)
      const values = spoilt(drawn, trouble, broken)
      const message: Message = { resource, timestamp, ...values }
      const identity = JSON.stringify(message)
      corrected = undefined
      if (taken.has(identity)) continue
      taken.add(identity)
      memory = after
      lastTimes.set(resource, timestamp)
      return message
    }
  }
  const messages = all.flatMap((step): Message[] => {
    now += step.gap
    const message = draw(step)
    const isRepeated = step === before
    before = step
    return step.trouble === 'duplicate' && !isRepeated ? [message, message] : [message]
  })
  return messages.slice(0, maxLength)
}

/** Returns the drawn values, and those of signals, which depend on earlier values. */
function valuesOf(
  body: Body,
  options: StreamOptions,
  time: number,
  memory: Map<string, unknown>,
): Record<string, unknown> {
  const metrics = metricsOf(body.resource, options)
  const values: Record<string, unknown> = {}
  for (const [metric, drawn] of Object.entries(body.values)) {
    const generator = metrics[metric]
    if (!isSignal(generator)) values[metric] = drawn
    else {
      const key = `${body.resource}\n${metric}`
      const { value, after } = generator.next(drawn, time, memory.get(key))
      memory.set(key, after)
      values[metric] = value
    }
  }
  return values
}

interface Body {
  readonly resource: string
  readonly values: Readonly<Record<string, unknown>>
}

function metricsOf(resource: string, { metrics, byResource }: StreamOptions): Metrics {
  return byResource?.[resource] ?? metrics
}

function bodyOf(resource: string, options: StreamOptions, holes: boolean): fc.Arbitrary<Body> {
  const generators = Object.fromEntries(
    Object.entries(metricsOf(resource, options)).map(([metric, generator]) => [
      metric,
      isSignal(generator) ? generator.draw : withConstants(generator, options.constants?.[metric] ?? []),
    ]),
  )
  const whole = fc.record(generators)
  const partly = fc.record(generators, { requiredKeys: [] })
  const values: fc.Arbitrary<Record<string, unknown>> = holes
    ? fc.oneof({ weight: 9, arbitrary: whole }, { weight: 1, arbitrary: partly })
    : whole
  return values.map((drawn) => ({ resource, values: drawn }))
}

/** Replaces a third of the values by constants that the generator itself could draw. */
export function withConstants(generator: fc.Arbitrary<unknown>, constants: readonly unknown[]): fc.Arbitrary<unknown> {
  const possible = constants.filter((value) => generator.canShrinkWithoutContext(value))
  if (possible.length === 0) return generator
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 2, arbitrary: generator },
    { weight: 1, arbitrary: fc.constantFrom(...possible) },
  )
}

function gaps({ wild, pace }: Mode, every: number, durations: readonly number[]): fc.Arbitrary<number> {
  const usual = fc.constantFrom(pace, pace, pace, 0, Math.round(pace / 2), 2 * pace)
  const near = durations.flatMap((ms) => [ms, ms - 1, ms + 1, ms - 1000, ms + 1000, 2 * ms].filter((gap) => gap > 0))
  const silence = fc.constantFrom(10 * every, HOUR, 24 * HOUR)
  return fc.oneof(
    { weight: 12, arbitrary: usual },
    ...(near.length > 0 ? [{ weight: 4, arbitrary: fc.constantFrom(...near) }] : []),
    ...(wild.has('gap') ? [{ weight: 1, arbitrary: silence }] : []),
  )
}

function repeats({ holds }: Mode, counts: readonly number[]): fc.Arbitrary<number> {
  if (!holds) return fc.constant(0)
  const near = counts.flatMap((count) => [count - 2, count - 1, count]).filter((more) => more > 0)
  return fc.constantFrom(0, 0, 1, 2, 3, 6, 12, 40, ...near, ...near)
}

type Trouble = (typeof TROUBLES)[number]

/** Generates mostly messages without faults, and shrinks towards these. */
function troubles(wild: ReadonlySet<Disturbance>): fc.Arbitrary<Trouble | undefined> {
  const possible = TROUBLES.filter((trouble) => wild.has(trouble))
  if (possible.length === 0) return fc.constant(undefined)
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(undefined) },
    { weight: possible.length, arbitrary: fc.constantFrom(...possible) },
  )
}

function skewsOf(resources: readonly string[], every: number): fc.Arbitrary<readonly number[]> {
  const { length } = resources
  const skew = fc.constantFrom(0, 0, 0, every / 2, -every / 2, HOUR, -HOUR)
  return fc.array(skew, { minLength: length, maxLength: length })
}

function starts(special: boolean): fc.Arbitrary<Start> {
  const usual = fc.constant({ at: USUAL_DAY, inside: 0 })
  if (!special) return usual
  const around = fc.record({
    at: fc.constantFrom(...SPECIAL_TIMES),
    inside: fc.integer({ min: 0, max: 100 }).map((share) => share / 100),
  })
  return fc.oneof({ withCrossShrink: true }, { weight: 1, arbitrary: usual }, { weight: 3, arbitrary: around })
}

function startOf(start: number | string | undefined): number | undefined {
  if (start === undefined) return undefined
  const time = typeof start === 'number' ? start : isoInstant(start)
  if (Number.isFinite(time)) return time
  throw new AppError('VALIDATION', `start is ${String(start)}; use epoch ms or an ISO 8601 time`)
}

function spoilt(values: Record<string, unknown>, trouble: Trouble | undefined, n: number): Record<string, unknown> {
  const numbers = Object.keys(values).filter((key) => typeof values[key] === 'number')
  const broken = numbers[n % Math.max(1, numbers.length)]
  if (broken === undefined) return values
  switch (trouble) {
    case 'nan':
      return { ...values, [broken]: Number.NaN }
    case 'null':
      return { ...values, [broken]: null }
    case 'blank':
      return { ...values, [broken]: n % 2 === 0 ? '' : ' ' }
    case 'text':
      return { ...values, [broken]: String(values[broken]) }
    default:
      return values
  }
}
