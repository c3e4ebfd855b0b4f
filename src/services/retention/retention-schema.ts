/** Schemas of retention rules and their progress. */
import { Type } from 'typebox'
import { durationMs, isPlainObject, shown } from '#kernel'
import {
  checked,
  closed,
  type Decoded,
  duration,
  type Problem,
  refined,
  REVISION,
  text,
} from '#services/shared/contract'

export const DATA_KINDS = ['samples', 'messages', 'inputs', 'alarms', 'audit'] as const
export type DataKind = (typeof DATA_KINDS)[number]

const HOUR = 3_600_000
const MAX_RULES = 200

const keep = refined(duration('age after which data is deleted: ISO 8601, from PT1H to 3650 days'), (value) => {
  const ms = typeof value === 'string' ? msOf(value) : Number.NaN
  if (!(ms >= 0 && ms < HOUR)) return []
  const message = `${shown(value)} is shorter than one hour, and would delete data on arrival`
  return [{ message, suggestion: 'write a duration from PT1H, such as P90D' }]
})

function msOf(value: string): number {
  try {
    return durationMs(value)
  } catch {
    return Number.NaN
  }
}

const RULE = {
  data: Type.Enum(DATA_KINDS, {
    description:
      'samples: values of metrics; messages: whole messages and commands; inputs: kept inputs of tasks; alarms: cleared ones, by the time they were raised; audit: entries of the audit',
  }),
  type: Type.Optional(text(512, { minLength: 1, description: 'samples and messages of resources of this type only' })),
  metric: Type.Optional(text(512, { minLength: 1, description: 'samples of this metric only' })),
  keep,
}
const RuleSchema = refined(closed(RULE, { title: 'RetentionRule' }), ruleProblems)
export interface RetentionRule extends Decoded<typeof RuleSchema> {}

function ruleProblems(rule: unknown): readonly Problem[] {
  if (!isPlainObject(rule)) return []
  const { data, type, metric } = rule
  const problems: Problem[] = []
  if (metric !== undefined && data !== 'samples')
    problems.push({
      at: '/metric',
      message: `${shown(data)} have no metrics`,
      suggestion: 'omit it, or write "samples"',
    })
  if (type !== undefined && data !== 'samples' && data !== 'messages')
    problems.push({ at: '/type', message: `${shown(data)} have one rule for all resources`, suggestion: 'omit it' })
  return problems
}

function repeated(rules: unknown): readonly Problem[] {
  if (!Array.isArray(rules)) return []
  const seen = new Map<string, number>()
  return rules.flatMap((rule: unknown, index): Problem[] => {
    if (!isPlainObject(rule)) return []
    const { data, type, metric } = rule
    const key = JSON.stringify([data, type, metric])
    const first = seen.get(key)
    if (first === undefined) seen.set(key, index)
    return first === undefined ? [] : [{ at: `/${index}`, message: `repeats rule ${first}`, suggestion: 'remove one' }]
  })
}

const rules = refined(Type.Array(RuleSchema, { maxItems: MAX_RULES }), repeated)

export const RulesBody = checked(closed({ rules }, { title: 'RetentionRules' }), {
  subject: 'The retention rules',
  type: 'RETENTION',
})
export interface RetentionRules extends Decoded<typeof RulesBody.schema> {}

export const StoredRulesSchema = Type.Object(
  {
    rules: Type.Array(Type.Object(RULE, { title: 'RetentionRule' })),
    revision: Type.Optional(Type.Integer({ description: REVISION })),
  },
  { title: 'StoredRetentionRules' },
)
/** `revision`: absent before the first write */
export interface StoredRules extends RetentionRules {
  readonly revision?: number
}

const Count = Type.Integer({ minimum: 0 })
export const StatusSchema = Type.Object(
  {
    reached: Type.Optional(
      Type.String({ description: 'time from which ages are measured, ISO 8601; behind the clock after a jump' }),
    ),
    started: Type.Optional(Type.String({ description: 'begin of the last round, ISO 8601' })),
    ended: Type.Optional(Type.String({ description: 'end of the last complete round, ISO 8601' })),
    isRunning: Type.Boolean(),
    deleted: Type.Object(
      { samples: Count, messages: Count },
      { description: 'since the first rule; other data is deleted by its own service' },
    ),
    error: Type.Optional(Type.String({ description: 'reason for which the last round stopped' })),
  },
  { title: 'RetentionStatus' },
)
export interface RetentionStatus extends Decoded<typeof StatusSchema> {}

const Text = Type.String()
export const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer(), details: Type.Optional(Type.Array(Text)) },
  { title: 'RetentionError' },
)
