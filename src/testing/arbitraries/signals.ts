/** Generates metric values that depend on earlier ones: walks, ramps and episodes. */
import fc from 'fast-check'
import { AppError } from '#kernel'
import { spanOf } from '../length-of.ts'

/** A metric with correlated values; replaces an arbitrary of single values. */
export interface Signal {
  readonly kind: 'signal'
  readonly draw: fc.Arbitrary<unknown>
  /**
   * returns a message's value and the basis of the next one; `time` is epoch ms, `before` is absent at the first
   * message
   */
  next(drawn: unknown, time: number, before: unknown): { readonly value: unknown; readonly after: unknown }
}

export function isSignal(value: unknown): value is Signal {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'signal'
}

function signal<Drawn, Memory>(
  draw: fc.Arbitrary<Drawn>,
  next: (drawn: Drawn, time: number, before: Memory | undefined) => { value: unknown; after: Memory },
): Signal {
  return {
    kind: 'signal',
    draw,
    next: (drawn, time, before) => next(drawn as Drawn, time, before as Memory | undefined),
  }
}

/** Generates a number that changes by at most `step` per message and stays between the limits. */
export function walk(min: number, max: number, step: number): Signal {
  requireRange('walk', min, max)
  const draw = fc.record({ first: readings(min, max), move: fc.integer({ min: -100, max: 100 }) })
  return signal<{ first: number; move: number }, number>(draw, ({ first, move }, _time, before) => {
    const value = before === undefined ? first : Math.min(max, Math.max(min, before + (move / 100) * step))
    const tidy = Number(value.toPrecision(12))
    return { value: tidy, after: tidy }
  })
}

/** Generates a number that rises or falls from `from` to `to` in the time `lasts`, repeatedly, with some `noise`. */
export function ramp(from: number, to: number, lasts: number | string, noise = 0): Signal {
  const ms = spanOf(lasts, 'ramp: lasts')
  const draw = fc.integer({ min: -100, max: 100 })
  return signal<number, number>(draw, (off, time, began = time) => {
    const share = ((time - began) % ms) / ms
    return { value: Number((from + (to - from) * share + (off / 100) * noise).toPrecision(12)), after: began }
  })
}

export interface Episodes<Value> {
  /** values outside events */
  readonly calm: fc.Arbitrary<Value>
  /** values during an event */
  readonly event: fc.Arbitrary<Value>
  /** duration of an event: ms, ISO 8601 or short, or a minimum and a maximum */
  readonly lasts: number | string | readonly [number | string, number | string]
}

/** Generates calm values and, sometimes for a while, event values without interruption. */
export function episodes<Value>({ calm, event, lasts }: Episodes<Value>): Signal {
  const [shortest, longest] = (isRange(lasts) ? lasts : ([lasts, lasts] as const)).map((one) =>
    spanOf(one, 'episodes: lasts'),
  )
  const [low, high] = [shortest ?? 0, longest ?? 0]
  if (low > high)
    throw new AppError('VALIDATION', `episodes: lasts goes from ${low} to ${high} ms; put the shortest first`)
  const draw = fc.record({ calm, event, begins: fc.nat(9), share: fc.integer({ min: 0, max: 100 }) })
  return signal<{ calm: Value; event: Value; begins: number; share: number }, number>(
    draw,
    (drawn, time, before = Number.NEGATIVE_INFINITY) => {
      const begins = time >= before && drawn.begins === 9
      const ends = begins ? time + low + ((high - low) * drawn.share) / 100 : before
      return { value: time < ends ? drawn.event : drawn.calm, after: ends }
    },
  )
}

function isRange(lasts: Episodes<unknown>['lasts']): lasts is readonly [number | string, number | string] {
  return Array.isArray(lasts)
}

function requireRange(name: string, min: number, max: number): void {
  if (min < max) return
  throw new AppError('VALIDATION', `${name}(${min}, ${max}): put the lower limit first`)
}

/** Generates numbers from `min` to `max`, in tenths unless `digits` differs. The limits themselves are frequent. */
export function readings(min: number, max: number, digits = 1): fc.Arbitrary<number> {
  const scale = 10 ** digits
  const [low, high] = [Math.ceil(min * scale), Math.floor(max * scale)]
  // The inverse mapping lets fast-check recognize constants of a rule as possible values.
  const inside = fc.integer({ min: low, max: high }).map(
    (n) => n / scale,
    (value) => {
      if (typeof value !== 'number') throw new TypeError('no number')
      const n = Math.round(value * scale)
      if (n / scale !== value) throw new RangeError('between two readings')
      return n
    },
  )
  const limits = fc.constantFrom(min, max)
  return fc.oneof({ withCrossShrink: true }, { weight: 8, arbitrary: inside }, { weight: 1, arbitrary: limits })
}
