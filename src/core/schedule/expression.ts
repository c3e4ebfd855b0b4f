/** Distinguishes cron expressions from recurrence rules. */

export type ExpressionKind = 'cron' | 'rrule'

/** Recognizes a recurrence rule by `=` or `:`, which cron never contains. */
export function expressionKind(expression: string): ExpressionKind {
  return /[=:]/.test(expression) ? 'rrule' : 'cron'
}

export function clockOf(
  expression: string,
): { type: 'scheduled'; cron: string } | { type: 'scheduled'; rrule: string } {
  return expressionKind(expression) === 'rrule'
    ? { type: 'scheduled', rrule: expression }
    : { type: 'scheduled', cron: expression }
}
