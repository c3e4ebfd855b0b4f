/** Schemas of what people do to alarms, and of types of alarms, with limits. */
import { Type } from 'typebox'
import { checked, closed, type Decoded, duration, instant, readOnly, REVISION, text } from '#services/shared/contract'
import { LIFECYCLES, SUPPRESSIONS } from './life-cycle.ts'

const MAX_COMMENT = 2_000
const MAX_TYPE = 500
const MAX_LINE = 2_000
const MAX_PARENTS = 20

const comment = text(MAX_COMMENT, { minLength: 1, description: `text of a person, at most ${MAX_COMMENT} characters` })

export const lifecycle = Type.Enum(LIFECYCLES, {
  description: 'state after ISA-18.2; returned: over, but not acknowledged yet',
})
export const suppression = Type.Enum(SUPPRESSIONS, {
  description: 'what keeps the alarm from people: shelved by a person, suppressed by design, or out of service',
})

export const HoldSchema = Type.Object(
  {
    suppression,
    by: Type.String({ description: 'the user, or the name of what suppresses the alarm, such as window/<id>' }),
    since: Type.String({ format: 'date-time' }),
    until: Type.Optional(Type.String({ format: 'date-time' })),
    reason: Type.Optional(Type.String()),
  },
  { title: 'hold on an alarm' },
)
export interface ShownHold extends Decoded<typeof HoldSchema> {}

/** The body of an acknowledgement or of the end of a shelving. */
export const Remark = checked(closed({ comment: Type.Optional(comment) }, { title: 'remark on an alarm' }), {
  subject: 'the remark',
})

export const Shelving = checked(
  closed(
    {
      until: instant,
      reason: text(MAX_COMMENT, { minLength: 1, description: 'why the alarm is shelved' }),
    },
    { title: 'shelving of an alarm' },
  ),
  { subject: 'the shelving' },
)

export const NewComment = checked(closed({ text: comment }, { title: 'comment on an alarm' }), {
  subject: 'the comment',
})

const CommentSchema = Type.Object({
  id: Type.String(),
  time: Type.String({ format: 'date-time' }),
  user: Type.String({ description: 'API key, subject of a token, or system/engine' }),
  text: Type.String(),
})
interface AlarmComment extends Decoded<typeof CommentSchema> {}
export const CommentsSchema = Type.Object(
  {
    total: Type.Integer({ minimum: 0 }),
    comments: Type.Unsafe<readonly AlarmComment[]>(Type.Array(CommentSchema, { description: 'oldest first' })),
  },
  { title: 'comments on an alarm' },
)
export interface AlarmComments extends Decoded<typeof CommentsSchema> {}

const line = (description: string) => Type.Optional(text(MAX_LINE, { description }))

const TYPE_FIELDS = {
  latching: Type.Optional(
    Type.Boolean({ description: 'true: an alarm that returns to normal stays open until it is acknowledged' }),
  ),
  longestShelving: Type.Optional(duration('longest shelving, such as PT8H; longer ones are rejected')),
  texts: Type.Optional(
    closed(
      {
        cause: line('what usually causes the alarm'),
        consequence: line('what happens if it is ignored'),
        action: line('what the operator does'),
      },
      { description: 'texts for people' },
    ),
  ),
  suppressedBy: Type.Optional(
    Type.Unsafe<readonly string[]>(
      Type.Array(text(MAX_TYPE, { minLength: 1 }), {
        maxItems: MAX_PARENTS,
        description:
          'types whose open alarms, of the same resource or of one above it, suppress new alarms of this type',
      }),
    ),
  ),
}

const SHOWN_TYPE = { type: Type.String(), revision: Type.Integer({ minimum: 1, description: REVISION }) }

export const NewAlarmType = checked(
  closed({ ...TYPE_FIELDS, ...readOnly(Object.keys(SHOWN_TYPE)) }, { title: 'type of alarms' }),
  { subject: 'the type of alarms' },
)
export type NewAlarmType = Pick<AlarmType, keyof typeof TYPE_FIELDS>

export const AlarmTypeSchema = Type.Object({ ...SHOWN_TYPE, ...TYPE_FIELDS }, { title: 'stored type of alarms' })
export interface AlarmType extends Decoded<typeof AlarmTypeSchema> {}
export const AlarmTypesSchema = Type.Object(
  { types: Type.Unsafe<readonly AlarmType[]>(Type.Array(AlarmTypeSchema)) },
  { title: 'types of alarms' },
)

const Counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }))
export const AlarmCountsSchema = Type.Object(
  {
    total: Type.Integer({ minimum: 0 }),
    status: Counts,
    severity: Counts,
    lifecycle: Counts,
    suppression: Counts,
  },
  { title: 'counts of alarms' },
)
export interface AlarmCounts extends Decoded<typeof AlarmCountsSchema> {}
