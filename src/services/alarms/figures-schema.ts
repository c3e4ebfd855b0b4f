/** Schemas of the figures of an alarm system, and the parameters of the period. */
import { Type } from 'typebox'
import { type Decoded, instant } from '#services/shared/contract'
import { SEVERITIES } from './alarm-schema.ts'

const MAX_OPERATORS = 10_000

export const PERIOD = {
  from: Type.Optional(instant),
  until: Type.Optional(instant),
  operators: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_OPERATORS,
      description: 'number of operators who share the alarms; default 1',
    }),
  ),
}

const Count = Type.Integer({ minimum: 0 })
const Rate = Type.Number({ minimum: 0 })
const Time = Type.String({ format: 'date-time' })
const KindSchema = Type.Object({ source: Type.String(), type: Type.String(), alarms: Count })
const StandingSchema = Type.Object({ id: Type.String(), source: Type.String(), type: Type.String(), since: Time })

function list<S extends Parameters<typeof Type.Array>[0]>(item: S, description: string) {
  return Type.Unsafe<readonly Type.Static<S>[]>(Type.Array(item, { description }))
}

export const AlarmFiguresSchema = Type.Object(
  {
    from: Time,
    until: Time,
    operators: Type.Integer({ minimum: 1 }),
    alarms: Type.Integer({ minimum: 0, description: 'alarms that were raised and announced' }),
    held: Type.Integer({ minimum: 0, description: 'alarms that were suppressed from their beginning' }),
    perTenMinutes: Type.Number({ minimum: 0, description: 'mean number for each operator in ten minutes' }),
    perHour: Rate,
    perDay: Rate,
    peak: Type.Object({ alarms: Count, perOperator: Rate, from: Type.Optional(Time) }),
    flood: Type.Object({
      count: Count,
      seconds: Rate,
      share: Type.Number({ minimum: 0, maximum: 1 }),
      floods: list(Type.Object({ from: Time, until: Time, alarms: Count, peak: Count }), 'the first hundred'),
    }),
    severities: Type.Object(
      Object.fromEntries(SEVERITIES.map((one) => [one, Count])) as Record<
        'CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING',
        typeof Count
      >,
    ),
    top: list(Type.Object({ ...KindSchema.properties, share: Rate }), 'the ten sources and types with the most alarms'),
    topShare: Rate,
    chattering: Type.Object({ count: Count, alarms: list(KindSchema, 'at most ten, most alarms first') }),
    standing: Type.Integer({ minimum: 0, description: 'alarms whose condition lasts at the end of the period' }),
    stale: Type.Object({
      count: Type.Integer({ minimum: 0, description: 'standing alarms older than a day' }),
      alarms: list(StandingSchema, 'at most ten, oldest first'),
    }),
  },
  { title: 'figures of the alarm system' },
)
/** Figures of alarms that were raised in a period, whatever became of them. */
export const RaisedFiguresSchema = Type.Omit(AlarmFiguresSchema, ['standing', 'stale'], {
  title: 'figures of raised alarms',
})
export type RaisedFigures = Omit<AlarmFigures, 'standing' | 'stale'>
export interface AlarmFigures extends Decoded<typeof AlarmFiguresSchema> {}

export const AlarmGroupsSchema = Type.Object(
  {
    total: Count,
    groups: list(
      Type.Object({
        group: Type.String({ description: 'id of the first alarm' }),
        source: Type.String({ description: 'source of the first alarm' }),
        type: Type.String({ description: 'type of the first alarm' }),
        from: Time,
        until: Time,
        severity: Type.Enum(SEVERITIES, { description: 'highest severity' }),
        alarms: Count,
        by: Type.Object({ rule: Count, tree: Count, time: Count }, { description: 'how alarms joined the group' }),
        ids: list(Type.String(), 'ids of the first hundred alarms'),
      }),
      'the hundred largest groups, largest first',
    ),
  },
  { title: 'groups of alarms' },
)
export interface AlarmGroupList extends Decoded<typeof AlarmGroupsSchema> {}
