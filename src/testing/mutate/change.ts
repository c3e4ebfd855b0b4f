/** The type of all changes of a rule. */
import type { Rule, Template } from '#core'

/** A rule with one change, with a name for it; validity is not checked yet. */
export type Change = readonly [name: string, rule: Rule | Template]
