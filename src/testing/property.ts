/** What a property of a rule is, and how a plain function becomes one. */
import type { CheckedRun } from './checked-run.ts'

/** `undefined` and true: it holds. False, or what is wrong as text: it does not. */
export type Verdict = string | boolean | undefined | void

/** Something that must hold for every run of a rule. */
export interface RuleProperty {
  /** as a sentence: `alarm fires at most twice in an hour` */
  readonly name: string
  check(run: CheckedRun): Verdict | Promise<Verdict>
}

/** A property, or a plain function of the run: false, a text, or a thrown error says that it does not hold. */
export type PropertyLike = RuleProperty | ((run: CheckedRun) => Verdict | Promise<Verdict>)

export function propertyOf(given: PropertyLike): RuleProperty {
  return typeof given === 'function' ? { name: given.name || 'the property', check: given } : given
}
