/** What all changes of a rule are made of. */
import type { Rule, Template } from '#core'

/** A rule with one thing changed, under a name that says what: not yet known to be valid. */
export type Change = readonly [name: string, rule: Rule | Template]
