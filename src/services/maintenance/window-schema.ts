/** Schemas of maintenance windows, with limits. */
import { Type } from 'typebox'
import { durationMs, isPlainObject } from '#kernel'
import {
  CHECKED,
  checked,
  closed,
  type Decoded,
  DOCUMENT_HEAD,
  duration,
  id,
  instant,
  instantWith,
  type Problem,
  readOnly,
  refined,
  text,
} from '#services/shared/contract'

const MAX_SELECTED = 200
const MAX_DURATION_MS = 31 * 86_400_000
const name = text(200, { minLength: 1 })
const values = (description: string) => Type.Record(text(200), text(500), { maxProperties: 20, description })

export const EFFECTS = ['suppress', 'discard', 'pause'] as const

const SELECT = {
  resources: Type.Optional(Type.Array(id, { minItems: 1, maxItems: MAX_SELECTED })),
  prefix: Type.Optional(text(500, { minLength: 1, description: 'ids of resources that begin so' })),
  types: Type.Optional(Type.Array(name, { minItems: 1, maxItems: MAX_SELECTED, description: 'types of alarms' })),
  tags: Type.Optional(values('fields of the source of an alarm, or tags of a task, with these values')),
  query: Type.Optional(values('additional properties of alarms with these values')),
}
const select = closed(SELECT, { description: 'what the window is about: all criteria must be met', minProperties: 1 })
export type WindowSelection = Decoded<typeof select>

const WINDOW = {
  title: Type.Optional(text(200)),
  reason: Type.Optional(text(1_000, { description: 'shown on alarms that the window holds back' })),
  effect: Type.Enum([...EFFECTS], {
    description: 'suppress: alarms are raised but held back; discard: no alarm is created; pause: tasks are stopped',
  }),
  select,
  from: Type.Optional(instantWith('ISO 8601 or epoch ms; default: now')),
  until: Type.Optional(instant),
  rrule: Type.Optional(
    text(5_000, {
      minLength: 1,
      description: 'RFC 5545, for a window that recurs, such as FREQ=WEEKLY;BYDAY=SU;BYHOUR=2',
      ...CHECKED,
    }),
  ),
  zone: Type.Optional(
    text(64, { minLength: 1, description: 'of rrule: IANA name or offset; default UTC', ...CHECKED }),
  ),
  duration: Type.Optional(duration('of rrule: length of each window, such as PT2H; at most 31 days')),
}

const configuration = refined(
  closed(
    { ...WINDOW, ...readOnly([...Object.keys(DOCUMENT_HEAD), 'state', 'current', 'next', 'discarded', 'warnings']) },
    { title: 'WindowConfiguration' },
  ),
  (value): readonly Problem[] => {
    if (!isPlainObject(value)) return []
    const { rrule, duration: length, zone, until, effect, select: chosen } = value
    const isRecurring = rrule !== undefined
    const isLong = typeof length === 'string' && msOf(length) > MAX_DURATION_MS
    const ofAlarms = isPlainObject(chosen) ? ['types', 'query'].filter((one) => chosen[one] !== undefined) : []
    return [
      ...(isRecurring && length === undefined ? [{ at: '/duration', message: 'is required with rrule' }] : []),
      ...(isLong ? [{ at: '/duration', message: 'is too long', suggestion: 'at most 31 days' }] : []),
      ...(!isRecurring && until === undefined ? [{ at: '/until', message: 'is required without rrule' }] : []),
      ...(['duration', 'zone'] as const).flatMap((field): Problem[] =>
        !isRecurring && (field === 'zone' ? zone : length) !== undefined
          ? [{ at: `/${field}`, message: 'is only for windows with rrule', suggestion: 'omit it' }]
          : [],
      ),
      ...(effect === 'pause' ? ofAlarms : []).map((one) => ({
        at: `/select/${one}`,
        message: 'selects alarms, but the window pauses tasks',
        suggestion: 'use resources, prefix or tags',
      })),
    ]
  },
)
export const WindowConfiguration = checked(configuration, { subject: 'the window' })
/** Times are epoch ms. */
export type WindowConfiguration = Decoded<ReturnType<typeof closed<typeof WINDOW>>>
export type WindowDocument = WindowConfiguration & { readonly from: number }

const IsoTime = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })
const Span = Type.Object({ from: IsoTime, until: IsoTime })

export const WindowSchema = Type.Object(
  {
    ...DOCUMENT_HEAD,
    ...WINDOW,
    from: IsoTime,
    until: Type.Optional(IsoTime),
    state: Type.Enum(['planned', 'active', 'over']),
    current: Type.Optional(Span),
    next: Type.Optional(Span),
    discarded: Type.Integer({ minimum: 0, description: 'alarms that were not created, since the start of the host' }),
    warnings: Type.Array(Type.String(), { description: 'overlaps with other windows in the next 30 days' }),
  },
  { title: 'MaintenanceWindow' },
)
export interface MaintenanceWindow extends Omit<Decoded<typeof WindowSchema>, 'from' | 'until'> {
  readonly from: string
  readonly until?: string
}

const Text = Type.String()
export const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer(), details: Type.Optional(Type.Array(Text)) },
  { title: 'MaintenanceError' },
)

function msOf(text: string): number {
  try {
    return durationMs(text)
  } catch {
    return 0
  }
}
