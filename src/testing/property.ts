/** Defines what a property of a rule is, and converts plain functions to properties. */
import type { Rule, Template } from '#core'
import type { Json } from '#kernel'
import type { CheckedRun, Moment } from './checked-run.ts'
import type { Labels } from './checked-run.ts'

/** `undefined` and true: the property holds. False, or a text about the problem: it does not. */
export type Verdict = string | boolean | undefined | void

export interface RuleProperty {
  /** a sentence, such as `alarm fires at most twice in an hour` */
  readonly name: string
  check(run: CheckedRun): Verdict | Promise<Verdict>
  /** checks the same moment by moment, if possible; `proveRule` requires it */
  readonly monitor?: Monitor
  /** durations that matter to the property, ms: streams contain gaps of about these lengths */
  readonly durations?: readonly number[]
  /** other rules that the property runs: streams contain values and gaps near their constants too */
  readonly rules?: readonly (Rule | Template)[]
  /** what must occur in at least one run; otherwise the whole check fails as inconclusive */
  readonly needs?: readonly Need[]
  /** labels that the property reads; a rule without them is rejected before any run */
  readonly labels?: Partial<Labels>
}

/** An event that must happen in at least one run. */
export interface Need {
  readonly text: string
  met(run: Pick<CheckedRun, 'moments' | 'firings'>): boolean
}

/** Checks a property one moment at a time, without access to earlier moments. */
export interface Monitor<Memory = Json> {
  /** plain JSON; numbers above 10^11 are treated as epoch ms */
  readonly start: Memory
  next(memory: Memory, moment: Moment): { readonly memory: Memory; readonly wrong?: string | undefined }
  /** returns the problem if the run ends at `until`, epoch ms */
  end?(memory: Memory, until: number): string | undefined
  /** returns the part of the memory that decides verdicts; default: all. The rest only serves texts */
  decides?(memory: Memory): unknown
}

/**
 * A property, or a plain function of the run. False, a text or a thrown error means that the property does not hold.
 */
export type PropertyLike = RuleProperty | ((run: CheckedRun) => Verdict | Promise<Verdict>)

export function propertiesOf(like: PropertyLike | readonly PropertyLike[]): readonly RuleProperty[] {
  const list: readonly PropertyLike[] = Array.isArray(like) ? like : [like as PropertyLike]
  return list.map((one) => (typeof one === 'function' ? { name: one.name || 'the property', check: one } : one))
}

export function monitored<Memory>(
  monitor: Monitor<Memory>,
  about: Omit<RuleProperty, 'check' | 'monitor'>,
): RuleProperty {
  return {
    ...about,
    monitor: monitor as Monitor<unknown> as Monitor,
    check: ({ moments, until }) => watch(monitor, moments, until),
  }
}

export function watch<Memory>(monitor: Monitor<Memory>, moments: readonly Moment[], until: number): string | undefined {
  let memory = monitor.start
  for (const moment of moments) {
    const { memory: next, wrong } = monitor.next(memory, moment)
    if (wrong !== undefined) return wrong
    memory = next
  }
  return monitor.end?.(memory, until)
}
