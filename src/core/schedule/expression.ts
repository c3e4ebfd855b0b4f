/** Tells cron expressions and recurrence rules apart. */

export type ExpressionKind = 'cron' | 'rrule'

/** Which of the two an expression is: a rule has `=` or `:`, cron has neither. */
export function expressionKind(expression: string): ExpressionKind {
  return /[=:]/.test(expression) ? 'rrule' : 'cron'
}

/** The settings of a clock whose expression is one or the other, as in the `schedule` of a node. */
export function clockOf(
  expression: string,
): { type: 'scheduled'; cron: string } | { type: 'scheduled'; rrule: string } {
  return expressionKind(expression) === 'rrule'
    ? { type: 'scheduled', rrule: expression }
    : { type: 'scheduled', cron: expression }
}
