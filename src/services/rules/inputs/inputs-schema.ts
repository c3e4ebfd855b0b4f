/** Schemas for looking at tasks in the past: kept inputs, and the state at an instant. */
import { Type } from 'typebox'
import type { NodeView } from '#core'
import { type Decoded, instant } from '#services/shared/contract'
import { EpochMs, Text } from '../shared-schema.ts'

export const INPUT_KINDS = {
  data: 'message',
  push: 'push',
  command: 'command',
  resync: 'resync',
  members: 'members',
  begin: 'start',
  change: 'change',
  end: 'stop',
  forget: 'delete',
  answer: 'answer',
  ahead: 'answer',
  open: 'restart',
  resume: 'resume',
  jump: 'standstill',
  still: 'standstill',
} as const

const Position = Type.Integer({ minimum: 0, description: 'position in the log of the tenant' })
const KeptSince = Type.Integer({ description: 'epoch ms from which inputs are complete' })

export const INPUTS_QUERY = {
  from: Type.Optional(instant),
  until: Type.Optional(instant),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'default 100' })),
  after: Type.Optional(Type.Integer({ minimum: 0, description: '`next` of the previous page' })),
}
/** Times are epoch ms of readings, both inclusive. */
export interface InputsQuery {
  readonly from?: number
  readonly until?: number
  readonly limit?: number
  readonly after?: number
}

export const InputsPageSchema = Type.Object(
  {
    values: Type.Array(
      Type.Object({
        position: Position,
        kind: Type.Enum([...new Set(Object.values(INPUT_KINDS))]),
        time: Type.Number({ description: 'epoch ms of the reading; of an array, of its oldest' }),
        arrival: EpochMs,
        message: Type.Optional(Type.Unknown({ description: 'of kind message: the message, or the array of messages' })),
        input: Type.Optional(Type.Unknown({ description: 'of other kinds: what the input contains' })),
        effects: Type.Array(Type.Object({ node: Text, source: Text, effect: Text }), {
          description: 'triggers that fired for the input: the node that ran, and the source of the trigger',
        }),
      }),
    ),
    next: Type.Optional(Position),
    keptSince: KeptSince,
  },
  { title: 'TaskInputs' },
)
export interface InputsPage extends Decoded<typeof InputsPageSchema> {}
export type InputEntry = InputsPage['values'][number]

export const TaskTimerSchema = Type.Object({
  kind: Type.Enum(['clock', 'expiry', 'follow', 'call'], {
    description: 'tick of a clock, end of an observation, second part of an answer, deadline or retry of a call',
  }),
  node: Type.Optional(Type.String({ description: 'absent: the task' })),
  at: Type.Number({ description: 'epoch ms' }),
})
export type TaskTimer = Decoded<typeof TaskTimerSchema>

export const TaskStateSchema = Type.Object(
  {
    at: EpochMs,
    position: Position,
    isRunning: Type.Boolean(),
    nodes: Type.Array(
      Type.Unsafe<NodeView>(
        Type.Object({
          node: Text,
          kind: Type.Enum(['sensor', 'gate', 'actuator']),
          states: Type.Record(Text, Type.Number()),
          mostLikelyState: Type.Union([Type.Object({ state: Text, probability: Type.Number() }), Type.Null()]),
          rawData: Type.Optional(Type.Unknown()),
          collectedTime: Type.Optional(EpochMs),
          error: Type.Optional(Type.Object({ time: EpochMs, message: Text })),
        }),
      ),
    ),
    timers: Type.Array(TaskTimerSchema, { description: 'pending, the next one first' }),
    keptSince: Type.Optional(KeptSince),
  },
  { title: 'TaskState' },
)
/** `at`: an instant of the host's clock; `position`: log position of the last input before that instant. */
export interface TaskStateView extends Decoded<typeof TaskStateSchema> {}
