/** The definition of a property of a rule, and the conversion of plain functions. */
import type { Rule, Template } from '#core'
import type { Json } from '#kernel'
import type { CheckedRun, Moment } from './checked-run.ts'
import type { Labels } from './checked-run.ts'

/** `undefined` and true: it holds. False, or a text about the problem: it does not. */
export type Verdict = string | boolean | undefined | void

export interface RuleProperty {
  /** as a sentence: `alarm fires at most twice in an hour` */
  readonly name: string
  check(run: CheckedRun): Verdict | Promise<Verdict>
  /** the same moment by moment, if possible: needed by `proveRule` */
  readonly monitor?: Monitor
  /** durations that matter to it, ms: streams have gaps of about these */
  readonly durations?: readonly number[]
  /** other rules that it runs: streams have values and gaps near their constants too */
  readonly rules?: readonly (Rule | Template)[]
  /** what must occur in some run, or it is inconclusive: an unmet need fails the whole check */
  readonly needs?: readonly Need[]
  /** labels that it reads; a rule without them is rejected before anything runs */
  readonly labels?: Partial<Labels>
}

/** Something that has to happen in at least one run. */
export interface Need {
  readonly text: string
  met(run: Pick<CheckedRun, 'moments' | 'firings'>): boolean
}

/** A property as a machine that sees one moment after the other and never goes back. */
export interface Monitor<Memory = Json> {
  /** plain JSON; epoch ms in it are recognized by being above 10^11 */
  readonly start: Memory
  next(memory: Memory, moment: Moment): { readonly memory: Memory; readonly wrong?: string | undefined }
  /** the problem if the run ends at that time, epoch ms */
  end?(memory: Memory, until: number): string | undefined
  /** the part of the memory on which verdicts depend; default: all of it. The rest is for texts */
  decides?(memory: Memory): unknown
}

/** A property, or a plain function of the run: false, a text, or a thrown error means that it does not hold. */
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
