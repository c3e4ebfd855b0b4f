/** Distinguishes cron expressions from recurrence rules. */

export type ExpressionKind = 'cron' | 'rrule'

/** A recurrence rule has `=` or `:`, cron has neither. */
export function expressionKind(expression: string): ExpressionKind {
  return /[=:]/.test(expression) ? 'rrule' : 'cron'
}

/** Schedule settings of an expression, as in the `schedule` of a node. */
export function clockOf(
  expression: string,
): { type: 'scheduled'; cron: string } | { type: 'scheduled'; rrule: string } {
  return expressionKind(expression) === 'rrule'
    ? { type: 'scheduled', rrule: expression }
    : { type: 'scheduled', cron: expression }
}
