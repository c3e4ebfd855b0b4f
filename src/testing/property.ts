/** What a property of a rule is, and how a plain function becomes one. */
import type { Rule, Template } from '#core'
import type { Json } from '#kernel'
import type { CheckedRun, Moment } from './checked-run.ts'
import type { Labels } from './checked-run.ts'

/** `undefined` and true: it holds. False, or what is wrong as text: it does not. */
export type Verdict = string | boolean | undefined | void

/** Something that must hold for every run of a rule. */
export interface RuleProperty {
  /** as a sentence: `alarm fires at most twice in an hour` */
  readonly name: string
  check(run: CheckedRun): Verdict | Promise<Verdict>
  /** the same moment by moment, when it can be told so: what `proveRule` needs */
  readonly monitor?: Monitor
  /** lengths of time that matter to it, ms: streams have gaps of about these */
  readonly durations?: readonly number[]
  /** other rules that it looks at: streams have values and gaps near their constants too */
  readonly rules?: readonly (Rule | Template)[]
  /** what it needs to have met in some run, or it says nothing: an unmet need fails the whole check */
  readonly needs?: readonly Need[]
  /** labels that it looks at; a rule without them is refused before anything runs */
  readonly labels?: Partial<Labels>
}

/** Something that has to happen in at least one run. */
export interface Need {
  readonly text: string
  met(run: Pick<CheckedRun, 'moments' | 'firings'>): boolean
}

/** A property as a machine that sees one moment after the other and never goes back. */
export interface Monitor<Memory = Json> {
  /** plain JSON; epoch ms in it are known by being above 10^11 */
  readonly start: Memory
  next(memory: Memory, moment: Moment): { readonly memory: Memory; readonly wrong?: string | undefined }
  /** what is wrong when the run ends at that time, epoch ms */
  end?(memory: Memory, until: number): string | undefined
  /** the part of the memory on which verdicts depend; default: all of it. The rest is for texts */
  decides?(memory: Memory): unknown
}

/** A property, or a plain function of the run: false, a text, or a thrown error says that it does not hold. */
export type PropertyLike = RuleProperty | ((run: CheckedRun) => Verdict | Promise<Verdict>)

/** A property, or a list of them, as a list of whole ones. */
export function propertiesOf(given: PropertyLike | readonly PropertyLike[]): readonly RuleProperty[] {
  const list: readonly PropertyLike[] = Array.isArray(given) ? given : [given as PropertyLike]
  return list.map((one) => (typeof one === 'function' ? { name: one.name || 'the property', check: one } : one))
}

/** A property that a monitor decides. */
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

/** What is wrong with these moments, if anything. */
export function watch<Memory>(monitor: Monitor<Memory>, moments: readonly Moment[], until: number): string | undefined {
  let memory = monitor.start
  for (const moment of moments) {
    const { memory: next, wrong } = monitor.next(memory, moment)
    if (wrong !== undefined) return wrong
    memory = next
  }
  return monitor.end?.(memory, until)
}
