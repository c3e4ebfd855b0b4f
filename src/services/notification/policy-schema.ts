/** Schemas of policies: which alarms notify whom, when, and how often. */
import { Type } from 'typebox'
import {
  checked,
  closed,
  type Decoded,
  DOCUMENT_HEAD,
  duration,
  id,
  type Problem,
  readOnly,
  refined,
  text,
} from '#services/shared/contract'
import { isPlainObject } from '#kernel'

const MAX_SELECTED = 200
const MAX_STEPS = 10
const MAX_CONTACTS = 50

const name = text(200, { minLength: 1 })
const SEVERITIES = ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING'] as const

const select = closed(
  {
    severities: Type.Optional(Type.Array(Type.Enum([...SEVERITIES]), { minItems: 1, maxItems: 4 })),
    types: Type.Optional(Type.Array(name, { minItems: 1, maxItems: MAX_SELECTED })),
    resources: Type.Optional(Type.Array(id, { minItems: 1, maxItems: MAX_SELECTED })),
    prefix: Type.Optional(text(500, { minLength: 1, description: 'ids of resources that begin so' })),
    tags: Type.Optional(
      Type.Record(text(200), text(500), {
        description: 'fields of the source of the alarm with these values, such as { "line": "3" }',
        maxProperties: 20,
      }),
    ),
  },
  { description: 'alarms that meet all criteria; default: all' },
)
export type Selection = Decoded<typeof select>

const RECIPIENTS = {
  contacts: Type.Optional(Type.Array(name, { minItems: 1, maxItems: MAX_CONTACTS, description: 'names of contacts' })),
  onCall: Type.Optional(text(200, { minLength: 1, description: 'calendar whose contacts on call are notified' })),
}
const after = duration('time without acknowledgement, such as PT15M')
const step = refined(
  closed({
    after,
    ...RECIPIENTS,
    policy: Type.Optional(text(200, { minLength: 1, description: 'policy that takes over the alarm' })),
  }),
  needsRecipient,
)

function needsRecipient(value: unknown): readonly Problem[] {
  if (!isPlainObject(value)) return []
  const { contacts, onCall, policy } = value
  if (contacts !== undefined || onCall !== undefined || policy !== undefined) return []
  return [{ message: 'notifies no contact', suggestion: 'write contacts or onCall' }]
}

const POLICY = {
  description: Type.Optional(text(1_000)),
  select: Type.Optional(select),
  ...RECIPIENTS,
  after: Type.Optional(duration('time without acknowledgement before the first notification; default: at once')),
  escalate: Type.Optional(
    Type.Array(step, { maxItems: MAX_STEPS, description: 'further steps, each after the former' }),
  ),
  during: Type.Optional(text(200, { minLength: 1, description: 'calendar; the policy notifies while it is open' })),
  outside: Type.Optional(
    Type.Enum(['wait', 'skip'], {
      description: 'of alarms while `during` is closed: wait until it opens (default), or skip',
    }),
  ),
  group: Type.Optional(
    closed(
      {
        by: Type.Enum(['alarm', 'type', 'resource', 'policy']),
        wait: Type.Optional(duration('time for which a new group collects alarms; default PT10S')),
        interval: Type.Optional(duration('least time between two notifications of a group; default PT5M')),
      },
      { description: 'alarms that share a notification; default: each alarm has its own' },
    ),
  ),
  limit: Type.Optional(
    closed(
      { count: Type.Integer({ minimum: 1, maximum: 10_000 }), per: duration('span of the limit, such as PT1H') },
      { description: 'most notifications in a span; what exceeds it is sent in one digest at its end' },
    ),
  ),
  digest: Type.Optional(duration('collect everything, and send one digest in this interval; not together with group')),
  onClear: Type.Optional(
    Type.Boolean({ description: 'default true: also notify when an alarm that was notified clears' }),
  ),
  paused: Type.Optional(Type.Boolean({ description: 'default false' })),
}

const configuration = refined(
  closed({ ...POLICY, ...readOnly([...Object.keys(DOCUMENT_HEAD), 'warnings']) }, { title: 'PolicyConfiguration' }),
  (value) => {
    if (!isPlainObject(value)) return []
    const { digest, group, outside, during } = value
    return [
      ...needsRecipient({ ...value, policy: undefined }),
      ...(digest !== undefined && group !== undefined
        ? [{ at: '/digest', message: 'is not allowed beside group' }]
        : []),
      ...(outside !== undefined && during === undefined ? [{ at: '/outside', message: 'needs `during`' }] : []),
    ]
  },
)
export const PolicyConfiguration = checked(configuration, { subject: 'the policy' })
export type PolicyDocument = Decoded<ReturnType<typeof closed<typeof POLICY>>>

export const PolicySchema = Type.Object(
  {
    ...DOCUMENT_HEAD,
    ...POLICY,
    warnings: Type.Array(Type.String(), { description: 'names of contacts, calendars and policies that do not exist' }),
  },
  { title: 'Policy' },
)
export interface Policy extends Decoded<typeof PolicySchema> {}
