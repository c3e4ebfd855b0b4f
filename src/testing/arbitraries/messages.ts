/** Streams of messages as devices send them: late, twice, with holes, from clocks that are wrong, over changes of time. */
import fc from 'fast-check'
import { isoInstant } from '../../kernel/instant.ts'
import type { Message } from '../../core/task/origin.ts'
import { durationMs } from '../../kernel/duration.ts'
import { AppError } from '../../kernel/errors.ts'

/**
 * What can be wrong with a stream. `late`: a message comes after newer ones. `duplicate`: it comes again.
 * `missing`: a value is not there. `nan`: it is not a number. `skew`: the clock of a resource is off. `gap`: silence for
 * up to a day. `dst`: it plays around a change of the clocks, a leap day or the turn of a year
 */
export type Disturbance = 'late' | 'duplicate' | 'missing' | 'nan' | 'skew' | 'gap' | 'dst'

export interface StreamOptions {
  /** a generator of values for each metric, such as `readings(60, 120)` or `fc.boolean()` */
  readonly metrics: Readonly<Record<string, fc.Arbitrary<unknown>>>
  /** who sends; each has all metrics unless `byResource` says otherwise. Default `r1` */
  readonly resources?: readonly string[]
  /** metrics of some resources, instead of `metrics` */
  readonly byResource?: Readonly<Record<string, StreamOptions['metrics']>>
  /** usual time between two messages: ms, ISO 8601, or short as in `5m`; default a minute */
  readonly every?: number | string
  /** default 60 */
  readonly maxLength?: number
  /** epoch ms or ISO 8601; default some day, with `dst` also a special one */
  readonly start?: number | string
  /** default all of them */
  readonly disturbances?: readonly Disturbance[]
}

const ALL: readonly Disturbance[] = ['late', 'duplicate', 'missing', 'nan', 'skew', 'gap', 'dst']
const HOUR = 3_600_000
const USUAL_DAY = isoInstant('2025-03-03T06:00:00Z')
/** Shortly before: clocks forward and back in Europe and in the United States, a leap day, the turn of a year. */
const SPECIAL_DAYS = [
  '2025-03-30T00:45:00Z',
  '2025-10-26T00:15:00Z',
  '2025-03-09T06:45:00Z',
  '2025-11-02T05:15:00Z',
  '2024-02-28T23:45:00Z',
  '2024-12-31T23:45:00Z',
].map(isoInstant)

/** Numbers from `min` to `max`, in tenths unless `digits` says otherwise. The limits themselves come often. */
export function readings(min: number, max: number, digits = 1): fc.Arbitrary<number> {
  const scale = 10 ** digits
  const inside = fc.integer({ min: Math.ceil(min * scale), max: Math.floor(max * scale) }).map((n) => n / scale)
  const limits = fc.constantFrom(min, max)
  return fc.oneof({ withCrossShrink: true }, { weight: 8, arbitrary: inside }, { weight: 1, arbitrary: limits })
}

/** Streams for `simulate`, `checkRule` or a property of one's own; they shrink to few messages, then to tame ones. */
export function messageStreams(options: StreamOptions): fc.Arbitrary<readonly Message[]> {
  const { resources = ['r1'], disturbances = ALL, maxLength = 60 } = options
  const wild = new Set(disturbances)
  const every = typeof options.every === 'string' ? durationMs(options.every) : (options.every ?? 60_000)
  const step = fc.record({
    gap: gaps(every, wild.has('gap')),
    body: fc.constantFrom(...resources).chain((resource) => bodyOf(resource, options, wild.has('missing'))),
    trouble: troubles(wild),
    lateness: fc.constantFrom(every, 5 * every, HOUR, 26 * HOUR),
    broken: fc.nat(20),
  })
  const skews = fc.array(fc.constantFrom(0, 0, 0, every / 2, -every / 2, HOUR, -HOUR), {
    minLength: resources.length,
    maxLength: resources.length,
  })
  return fc
    .record({
      start: startOf(options.start, wild.has('dst')),
      skews: wild.has('skew') ? skews : fc.constant([]),
      steps: fc.array(step, { minLength: 1, maxLength }),
    })
    .map(({ start, skews: offBy, steps }) => {
      let now = start
      return steps.flatMap(({ gap, body, trouble, lateness, broken }): Message[] => {
        now += gap
        const skew = offBy[resources.indexOf(body.resource)] ?? 0
        const timestamp = Math.round(now + skew - (trouble === 'late' ? lateness : 0))
        const values = trouble === 'nan' ? withNaN(body.values, broken) : body.values
        const message: Message = { resource: body.resource, timestamp, ...values }
        return trouble === 'duplicate' ? [message, message] : [message]
      })
    })
}

interface Body {
  resource: string
  values: Record<string, unknown>
}

function bodyOf(resource: string, { metrics, byResource }: StreamOptions, holes: boolean): fc.Arbitrary<Body> {
  const own = byResource?.[resource] ?? metrics
  const whole = fc.record({ ...own })
  const partly = fc.record({ ...own }, { requiredKeys: [] })
  const values: fc.Arbitrary<Record<string, unknown>> = holes
    ? fc.oneof({ weight: 9, arbitrary: whole }, { weight: 1, arbitrary: partly })
    : whole
  return values.map((drawn) => ({ resource, values: drawn }))
}

function gaps(every: number, silences: boolean): fc.Arbitrary<number> {
  const usual = fc.constantFrom(every, every, every, 0, Math.round(every / 2), 2 * every)
  if (!silences) return usual
  const silence = fc.constantFrom(10 * every, HOUR, 24 * HOUR)
  return fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: silence })
}

type Trouble = 'late' | 'duplicate' | 'nan'

/** Most messages are as they should be, and shrinking leads to those. */
function troubles(wild: ReadonlySet<Disturbance>): fc.Arbitrary<Trouble | undefined> {
  const possible = (['late', 'duplicate', 'nan'] as const).filter((trouble) => wild.has(trouble))
  if (possible.length === 0) return fc.constant(undefined)
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(undefined) },
    { weight: possible.length, arbitrary: fc.constantFrom(...possible) },
  )
}

function startOf(start: number | string | undefined, special: boolean): fc.Arbitrary<number> {
  if (start !== undefined) {
    const time = typeof start === 'number' ? start : isoInstant(start)
    if (Number.isFinite(time)) return fc.constant(time)
    throw new AppError('VALIDATION', `start is ${String(start)}; give epoch ms or an ISO 8601 time`)
  }
  return special ? fc.constantFrom(USUAL_DAY, USUAL_DAY, ...SPECIAL_DAYS) : fc.constant(USUAL_DAY)
}

function withNaN(values: Record<string, unknown>, n: number): Record<string, unknown> {
  const numbers = Object.keys(values).filter((key) => typeof values[key] === 'number')
  const broken = numbers[n % Math.max(1, numbers.length)]
  return broken === undefined ? values : { ...values, [broken]: Number.NaN }
}
